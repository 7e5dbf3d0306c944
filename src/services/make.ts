import { setHosts } from '../addresses/store.ts'
import { newId } from '../db/new-id.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { refusedHost } from '../platform/hosts.ts'
import { refuseMore } from '../platform/limits.ts'
import { firstFree } from '../platform/names.ts'
import { dockerHub, registryOf } from '../registries/image-registry.ts'
import type { User } from '../web/factory.ts'
import { readEnvFile } from './compose/env-file.ts'
import type { Stack } from './compose/model.ts'
import { dotenv } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { fillValues } from './compose/values.ts'
import type { Values } from './compose/variables.ts'
import { componentsOf, versionedStack } from './definition.ts'
import type { Definition } from './definition.ts'
import { givenValues, refuseClashes } from './forms.ts'
import type { serviceForm } from './forms.ts'
import { freeHost } from './hosts.ts'
import { ownFile } from './own-file.ts'
import { oneServer, refuseUnplaceable, serverOf } from './placement.ts'
import { choosePorts, portsWanted, refuseOtherPorts, refuseUnled } from './ports.ts'
import { insertServiceJob } from './service-jobs.ts'
import type { ServiceDeps } from './state.ts'
import { countServices, insertService } from './store.ts'
import type { Service } from './store.ts'
import { sealValues } from './stored-definition.ts'

export type MakeDeps = ServiceDeps & { jobs: Jobs }

export type NewService = {
  owner: User
  template: string
  compose: string
  /** By default the file's, or generated. */
  values?: Values
  file: Template
  input: (typeof serviceForm)['_output']
}

/** Creates and starts an instance. Everything is validated first. `also` runs in the storing transaction. */
export function makeService(
  deps: MakeDeps,
  wanted: NewService,
  also: (service: Service, definition: Definition) => void,
): Service {
  const { owner, template, compose, values = new Map(), file, input } = wanted
  refuseMore('services', countServices(deps.db, owner.id))
  refuseClashes(file.variables)
  const base = {
    id: newId(),
    ownerId: owner.id,
    name: input.name,
    host: freeHost(deps.db, { ownerId: owner.id, name: input.name }),
    template,
    version: chosenVersion(file, input.version),
    domains: input.domains ?? [],
    placement: oneServer(deps, input.placement),
    compose,
    ...allowedBy(owner, input.allowed ?? []),
    values,
    ports: [],
    file,
  }
  const definition = define(deps, base, input)
  refuseUnled(definition)
  const { ports, domains, file: _, ...row } = definition
  const service = deps.db.transaction(() => {
    const service = insertService(deps.db, { ...row, ...sealValues(deps, definition) }, ports)
    setHosts(deps.db, { serviceId: service.id }, { hosts: domains, config: deps.config })
    insertServiceJob(deps, service, 'start')
    also(service, definition)
    return service
  })
  deps.jobs.wake()
  return service
}

/**
 * Returns a complete definition that can be started, with values, ports and permissions. Those of the base
 * stay unless the input changes them.
 */
export function define(
  deps: ServiceDeps,
  base: Definition,
  input: { hostPort?: number | null | undefined },
): Definition {
  const { ownerId, file } = base
  const values = valuesFor(file, base.values, givenValues(file.variables, input))
  const draft = { ...base, values }
  const wanted = portsWanted(file, versionedStack(deps, draft))
  const serverId = serverOf(base)
  const asked = { ownerId, serverId, asked: input.hostPort, kept: base.ports }
  const definition = { ...draft, ports: choosePorts(deps, wanted, asked) }
  // Validated as it will be started: the file may use the address, which is only known now.
  const whole = versionedStack(deps, definition)
  refuseOtherPorts(definition.ports, portsWanted(file, whole))
  refuseHosts(deps, whole, base.template)
  refuseUnplaceable(definition, whole)
  componentsOf(deps, definition) // throws for everything that can't be started
  return definition
}

/** The version of the main image. A file without one has no choice of versions. */
export function chosenVersion({ about }: Pick<Template, 'about'>, asked?: string | null) {
  if (asked && about.version === '')
    throw invalidField(
      'version',
      'is set in the file, which has no x-davit.version. Leave it empty.',
    )
  return asked ?? about.version
}

export function allowedBy({ id, role }: Pick<User, 'id' | 'role'>, allowed: string[]) {
  if (allowed.length > 0 && role !== 'admin')
    throw new AppError('forbidden', 'Only an admin can allow this. Ask one of them.')
  return { allowed, allowedBy: allowed.length > 0 ? id : null }
}

/** Values from the input, stored ones, the `.env`, or generated. The `.env` itself is kept too. */
function valuesFor({ variables }: Template, kept: Values, asked: Map<string, string>) {
  const env = kept.get(dotenv)
  const given = new Map(asked)
  const lookup = (name: string) => asked.get(name) || kept.get(name)
  for (const [name, value] of readEnvFile(env ?? '', { lookup })) {
    const isAsked = variables.get(name)?.hidden === false
    if (isAsked && !given.get(name) && !kept.has(name)) given.set(name, value)
  }
  const values = fillValues(variables, { given, kept })
  return env === undefined ? values : values.set(dotenv, env)
}

/** The engine pulls, but a user of Davit chooses the host, so the rules for hosts apply. */
function refuseHosts({ config }: ServiceDeps, stack: Stack, template: string) {
  for (const { name, image } of stack.services.values()) {
    const registry = registryOf(image)
    const host = registry.replace(/:\d+$/, '')
    const refusal = registry === dockerHub ? null : refusedHost(host, config.allowHosts)
    if (!refusal) continue
    const message = `The image of ${name} can’t be pulled. ${refusal}`
    throw template === ownFile ? invalidField('compose', message) : new AppError('invalid', message)
  }
}

export const freeName = (wanted: string, taken: string[]) =>
  firstFree(
    (end) => wanted + end,
    (name) => !taken.includes(name),
  )

export const aboutNew = ({ id, name, template, version }: Service) => ({
  object: { kind: 'service' as const, id, name },
  details: { template, ...(version && { version }) },
})
