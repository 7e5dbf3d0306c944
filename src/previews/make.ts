import { findUser } from '../accounts/store.ts'
import { freeHostPort } from '../addresses/host-ports.ts'
import { freeLabel } from '../addresses/labels.ts'
import { placesOf } from '../addresses/places.ts'
import type { Edge } from '../edge/edge.ts'
import { refuseUnplaceable } from '../environments/placement.ts'
import { insertPreview } from '../environments/preview-store.ts'
import type { Preview } from '../environments/preview-store.ts'
import { refuseUnspread } from '../environments/processes.ts'
import { baseOf, insertEnvironment } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { insertVariable, openVariables } from '../environments/variable-store.ts'
import { addLink } from '../links/change.ts'
import { listLinks } from '../links/store.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { refuseMore } from '../platform/limits.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { countEnvironments } from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import type { Definition } from '../services/definition.ts'
import { freeName, makeService } from '../services/make.ts'
import type { MakeDeps } from '../services/make.ts'
import { providesOf } from '../services/provides.ts'
import { listNames, updateService } from '../services/store.ts'
import type { Service } from '../services/store.ts'
import { definitionOf } from '../services/stored-definition.ts'
import type { Pull } from './pull.ts'
import { previewSettings } from './settings.ts'

export type MakePreviewDeps = MakeDeps & { edge: Pick<Edge, 'isOn'>; scheduler: Scheduler }

/** Those of the linked services of the base environment, by their id; a Failure if one can't be read. */
export type Definitions = ReadonlyMap<string, Definition | Failure>

/** Read before the transaction that makes a preview. */
export async function readDefinitions(
  deps: MakePreviewDeps,
  projects: Project[],
): Promise<Definitions> {
  const found = new Map<string, Definition | Failure>()
  for (const project of projects) {
    const { enabled, services } = previewSettings(project)
    const base = enabled && services !== 'none' ? baseOf(deps.db, project) : undefined
    for (const { service } of base ? listLinks(deps.db, base.id) : [])
      found.set(service.id, await definitionOf(deps, service).catch(asFailure))
  }
  return found
}

function asFailure(error: unknown) {
  if (error instanceof Failure) return error
  throw error
}

type Wanted = {
  project: Project
  pull: Pull
  name: string
  expiresAt: Date
  definitions: Definitions
}

/** Call it in a transaction. Nothing of a fork's is more than its settings and variables that aren’t secret. */
export function makePreview(deps: MakePreviewDeps, wanted: Wanted): Preview {
  const { db } = deps
  const { project, pull, expiresAt, definitions } = wanted
  const settings = previewSettings(project)
  refuseMore('environments', countEnvironments(db, project.ownerId))
  const base = baseOf(db, project)
  if (!base) throw new AppError('conflict', 'The project has no environment to copy.')
  const { id: environmentId } = insertCopy(deps, { ...wanted, base })
  const preview = insertPreview(db, {
    ...{ environmentId, projectId: project.id, number: pull.number, title: pull.title },
    ...{ url: pull.url, ref: pull.ref, headCommit: pull.commit, isFork: pull.isFork, expiresAt },
  })
  for (const variable of openVariables(db, deps.secrets, base.id))
    if (settings.variables.includes(variable.key) && !(pull.isFork && variable.secret)) {
      const { key, value, secret, buildTime } = variable
      insertVariable(db, deps.secrets, { environmentId, key, value, secret, buildTime })
    }
  if (pull.isFork || settings.services === 'none') return preview
  for (const { link, service: linked } of listLinks(db, base.id)) {
    const definition = definitions.get(linked.id)
    if (!definition) throw new AppError('conflict', 'The services were changed meanwhile.')
    if (definition instanceof Failure) throw definition
    const { variables } = link
    const add = (service: Service, of: Definition) =>
      addLink(deps, { environmentId, service, provides: providesOf(deps, of), variables })
    if (settings.services === 'shared') add(linked, definition)
    else makeFresh(definition, add)
  }
  return preview

  /** A service of the same template and version; what the template generates is generated again. */
  function makeFresh(
    { ownerId, name, template, version, compose, file, values, placement }: Definition,
    add: (service: Service, definition: Definition) => void,
  ) {
    const kept = [...values].filter(([key]) => !file.variables.get(key)?.generate)
    const wanted = `${name.slice(0, 40)}-pr-${pull.number}`
    makeService(
      deps,
      {
        ...{ owner: findUser(db, ownerId), template, compose, file, values: new Map(kept) },
        input: {
          ...{ name: freeName(wanted, listNames(db, ownerId)), placement },
          version: version || null,
        },
      },
      (service, made) => {
        updateService(db, service.id, { previewId: environmentId })
        add(service, made)
      },
    )
  }
}

/** Its addresses, schedules, backups, freezes and sources of versions are the base's alone. */
function insertCopy(
  deps: MakePreviewDeps,
  { project, pull, name, base }: Wanted & { base: Environment },
) {
  const { db, config } = deps
  const own = { ...base, ...base.ownSettings } as Environment // its commit may set others
  const environment = insertEnvironment(db, {
    ...{ projectId: project.id, name, autoDeploy: !pull.isFork },
    branch: pull.branch,
    hostPort: freeHostPort(deps, placesOf(deps, project.ownerId)),
    label: freeLabel(db, { project: project.name, environment: name, ...config }),
    ...{ port: own.port, processes: own.processes, placement: own.placement },
    ...{ healthPath: own.healthPath, healthHost: own.healthHost },
    ...{ healthTimeout: own.healthTimeout, memoryMb: own.memoryMb, cpus: own.cpus },
    ...{ drainSeconds: own.drainSeconds, watchSeconds: own.watchSeconds },
    ...{ rollbackOn: own.rollbackOn, volumes: own.volumes },
    ...{ releaseCommand: own.releaseCommand, releaseTimeout: own.releaseTimeout },
  })
  refuseUnspread(environment, deps.edge)
  refuseUnplaceable(deps, { environment })
  return environment
}
