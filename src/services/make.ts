import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import type { Docker } from '../docker/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { refusedHost } from '../platform/hosts.ts'
import { refuseMore } from '../platform/limits.ts'
import { dockerHub, registryOf } from '../registries/image-registry.ts'
import type { User } from '../web/factory.ts'
import type { ServiceDeps } from './state.ts'
import type { Stack } from './compose/model.ts'
import { dotenv } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { fillValues } from './compose/values.ts'
import type { Values } from './compose/values.ts'
import { componentsOf, versionedStack } from './definition.ts'
import type { Definition } from './definition.ts'
import { givenValues, refuseClashes } from './forms.ts'
import { ownFile, pairsOf } from './own-file.ts'
import { insertServiceJob } from './service-jobs.ts'
import { choosePorts, portsWanted, refuseOtherPorts } from './ports.ts'
import { countServices, insertService } from './store.ts'
import type { Service, ServicePort } from './store.ts'
import { sealValues } from './values.ts'

export type MakeDeps = ServiceDeps & { jobs: Jobs }

/** A template as it was read, and what a user fills in. */
export type Wanted = {
  owner: User
  /** Of the catalogue, or `ownFile`. */
  name: string
  text: string
  /** Of the `.env` beside a file of the user's own. */
  env?: string | null
  template: Template
  input: {
    name: string
    version?: string | null | undefined
    hostPort?: number | null | undefined
    domains?: string[] | null | undefined
    allowed?: string[] | null | undefined
  }
}

/** Makes an instance and begins its start. All that can be refused is, before anything is stored. */
export function makeService(deps: MakeDeps, wanted: Wanted): Service {
  const { owner, name, text, env = null, template, input } = wanted
  refuseMore('services', countServices(deps.db, owner.id))
  refuseClashes(template.variables)
  const id = newId()
  const definition = define(deps, {
    template,
    before: {
      id,
      ownerId: owner.id,
      name: input.name,
      template: name,
      compose: text,
      version: chosenVersion(template, input.version),
      ...allowedBy(owner, input.allowed ?? []),
      values: env === null ? new Map() : new Map([[dotenv, env]]),
      ports: [],
    },
    input,
    hostPort: input.hostPort ?? null,
  })
  const { ports, ...row } = definition
  const made = { ...row, ...sealValues(deps, definition), domains: input.domains ?? [] }
  const service = deps.db.transaction(() => {
    const service = insertService(deps.db, made, ports)
    insertServiceJob(deps, service, 'start')
    return service
  })
  deps.jobs.wake()
  return service
}

/** Another definition, whole and fit to be started: values filled in, ports chosen, dangers allowed. */
export function define(
  deps: { config: Config; db: Db; docker: Docker; instanceId: string },
  {
    template,
    before,
    input,
    hostPort,
  }: {
    template: Template
    /** With the values and ports that are kept. */
    before: Definition
    input: object
    hostPort: number | null
  },
): Definition {
  const values = valuesFor(template, before.values, givenValues(template.variables, input))
  const draft = { ...before, values }
  const stack = versionedStack(deps, draft, template)
  const asked = { ownerId: before.ownerId, asked: hostPort, kept: before.ports }
  const ports: ServicePort[] = choosePorts(deps, portsWanted(template, stack), asked)
  const definition = { ...draft, ports }
  // judged as it will be started: the file may mention the address, which is known by now only
  const whole = versionedStack(deps, definition, template)
  refuseOtherPorts(ports, portsWanted(template, whole))
  refuseHosts(deps, whole, before.template)
  componentsOf(deps, definition) // refuses what can't be started
  return definition
}

/** The version of the main image; a file without one has nothing to choose. */
export function chosenVersion({ about }: Pick<Template, 'about'>, asked?: string | null) {
  if (asked && about.version === '')
    throw invalidField(
      'version',
      'is chosen in the file: it has no x-davit.version. Leave it empty.',
    )
  return asked ?? about.version
}

/** What an admin ticked; from anyone else it is refused. */
export function allowedBy({ id, role }: Pick<User, 'id' | 'role'>, allowed: string[]) {
  if (allowed.length > 0 && role !== 'admin')
    throw new AppError('forbidden', 'Only an admin may allow this. Ask one of them.')
  return { allowed, allowedBy: allowed.length > 0 ? id : null }
}

/** What was given, what is in the `.env`, what was kept, or made now; what only helps stays beside it. */
function valuesFor({ variables }: Template, kept: Values, asked: Map<string, string>) {
  const env = kept.get(dotenv)
  const pairs = env === undefined ? new Map<string, string>() : pairsOf(env)
  const given = new Map(asked)
  for (const [name, value] of pairs) {
    const isAsked = variables.get(name)?.hidden === false
    if (isAsked && !given.get(name) && !kept.has(name)) given.set(name, value)
  }
  const values = fillValues(variables, { given, kept })
  return env === undefined ? values : values.set(dotenv, env)
}

/** The engine pulls from there, but who makes it do so is a user of Davit. */
function refuseHosts({ config }: { config: Config }, stack: Stack, template: string) {
  for (const { name, image } of stack.services.values()) {
    const registry = registryOf(image)
    const refusal = registry === dockerHub ? null : refusedHost(hostOf(registry), config.allowHosts)
    if (!refusal) continue
    const message = `The image of ${name} is not to be pulled. ${refusal}`
    throw template === ownFile ? invalidField('compose', message) : new AppError('invalid', message)
  }
}

const hostOf = (registry: string) => registry.replace(/:\d+$/, '')
