import { posix } from 'node:path'
import { AppError } from '../../platform/errors.ts'
import { processLimits } from '../../platform/limits.ts'
import { readYaml } from '../../platform/yaml.ts'
import { insideOf } from './build.ts'
import { chooseWeb } from './choose-web.ts'
import type { Danger, DangerKind } from './dangers.ts'
import { readEnvFile } from './env-file.ts'
import { extendServices } from './extends.ts'
import type { ComposeFile } from './extends.ts'
import { Field, quote } from './field.ts'
import { interpolate, mentionsIn } from './interpolate.ts'
import type { Stack } from './model.ts'
import { normalPath } from './mounts.ts'
import { startOrder } from './order.ts'
import { readStack } from './read-stack.ts'

/** Paths are from the root of the repository. */
export type StackQuestion = {
  file: string
  /** What was read so far; null for a path that has no text. */
  texts: Record<string, string | null>
  values: Record<string, string>
  /** The service with the addresses, if the user chose one. */
  service: string | null
  /** True to fill in required variables that have no value. */
  isSample?: boolean
  /** Those of the environment; null where it isn’t known. */
  limits: Limits | null
}

/** The most that a container gets. */
type Limits = { memoryMb: number; cpus: number }

export type StackPlan = Stack & {
  web: string | null
  /** The services that could have them. */
  choices: string[]
  port: number | null
  /** Required variables that have no value. */
  unset: string[]
}

/** Thrown for files that must be read first. */
class Needed extends Error {
  constructor(readonly paths: string[]) {
    super('These files must be read first')
  }
}

/** One-off containers and request lines have these names. */
const reserved = ['release', 'run', 'access']

const web = 'web'

/** It is part of the tag of its image. */
const longestName = 50

/**
 * Reads the Compose file of a repository, or says which files have to be read before that. Throws `invalid`
 * with line and column. Runs on the worker.
 */
export function planStack(question: StackQuestion): { needs: string[] } | { plan: StackPlan } {
  try {
    return { plan: read(question) }
  } catch (error) {
    if (error instanceof Needed) return { needs: error.paths }
    throw error
  }
}

function read({
  file,
  texts,
  values,
  service,
  isSample = false,
  limits,
}: StackQuestion): StackPlan {
  const base = posix.dirname(file) === '.' ? '' : posix.dirname(file)
  const main = open(file)
  const { tree, source } = extendServices(main, (path, named) => {
    if (textAt(path) === null) throw named.refuse('isn’t a file of the repository.')
    return open(path)
  })
  const beside = readEnvFile(textAt(posix.join(base, '.env')) ?? '', {
    lookup: (name) => own(values, name),
  })
  const given = (name: string) => own(values, name) ?? beside.get(name)
  const unset = mentionsIn(tree, source)
    .filter(({ name, required }) => required && !given(name))
    .map(({ name }) => name)
  const lookup = (name: string) =>
    given(name) || (isSample && unset.includes(name) ? '1' : given(name))
  const expanded = interpolate(tree, source, lookup)
  const root = new Field(expanded, [], source)
  const missing = pathsIn(root, base).filter((path) => !Object.hasOwn(texts, path))
  if (missing.length > 0) throw new Needed([...new Set(missing)])

  const files = new Map(
    Object.entries(texts).flatMap(([path, text]): [string, string][] =>
      text === null ? [] : [[normalPath(posix.relative(base, path)), text]],
    ),
  )
  const profiles = (lookup('COMPOSE_PROFILES') ?? '').split(',').map((name) => name.trim())
  const stack = readStack(expanded, source, { files, lookup, repository: { base, profiles } })
  refuseUnfit(stack, root)
  if (limits) refuseAbove(limits, stack, root)
  const chosen = chooseWeb(stack, service)
  if (service !== null && chosen.web === null)
    throw root
      .get('services')
      .refuse(`have no ${service} that keeps running, which was chosen for the addresses.`)
  if (chosen.web !== null && chosen.web !== web && stack.services.has(web))
    throw root
      .get('services')
      .get(web)
      .refuse(`has a name that is for the service with the addresses, ${chosen.web}. Rename it.`)
  return { ...stack, ...chosen, notes: [...stack.notes, ...chosen.notes], unset }

  function open(path: string): ComposeFile {
    return { path, ...readYaml(textAt(path) ?? '', { file: path }) }
  }

  function textAt(path: string) {
    if (!Object.hasOwn(texts, path)) throw new Needed([path])
    return texts[path]!
  }
}

const own = (values: Record<string, string>, name: string) =>
  Object.hasOwn(values, name) ? values[name] : undefined

/** The files and directories that the file names, besides those that it extends and builds. */
function pathsIn(root: Field, base: string): string[] {
  const inside = (field: Field) => insideOf(field, field.text('a path'), base)
  const ofService = (service: Field) => [
    ...service
      .get('env_file')
      .oneOrMore()
      .map((file) => inside(file.isMap ? file.get('path') : file)),
    ...service
      .get('volumes')
      .items()
      .flatMap((volume) => {
        const source = volume.isMap ? volume.get('source') : volume
        if (source.absent || !source.isText) return []
        const [path = ''] = source.text().split(':')
        return path.startsWith('.') ? insideOf(source, path, base) : []
      }),
  ]
  return [
    ...root
      .get('services')
      .entries()
      .flatMap(([, service]) => (service.isMap ? ofService(service) : [])),
    ...['configs', 'secrets'].flatMap((key) =>
      root
        .get(key)
        .entries()
        .flatMap(([, held]) => held.get('file').or([], (file) => [inside(file)])),
    ),
  ]
}

function refuseUnfit(stack: Stack, root: Field) {
  const services = root.get('services')
  const [danger] = stack.dangers
  if (danger)
    throw services
      .get(danger.service)
      .get(keyOf(danger))
      .refuse(`isn’t allowed: ${danger.message} Remove it.`)
  for (const name of stack.services.keys())
    if (reserved.includes(name) || name.length > longestName)
      throw services
        .get(name)
        .refuse(`has a name that is reserved or longer than ${longestName}. Rename it.`)
  const { processes, instances } = processLimits
  const count = [...stack.services.values()].reduce((sum, { replicas }) => sum + replicas, 0)
  if (stack.services.size > processes || count > instances)
    throw services.refuse(
      `are ${stack.services.size} with ${count} containers; the most are ${processes} with ${instances}. Split them.`,
    )
  try {
    startOrder(stack)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw services.refuse(`can’t be started in order. ${error.message}`)
  }
}

/** A commit can’t give its services more than the environment’s owner does. */
function refuseAbove({ memoryMb, cpus }: Limits, { services }: Stack, root: Field) {
  const refuse = (service: Field, keys: [string, string], limit: string) => {
    const [inDeploy, own] = keys
    const field = service.get('deploy').get('resources').get('limits').get(inDeploy)
    const set = field.absent ? service.get(own) : field
    return set.refuse(
      `is ${quote(set.text())}, more than the environment’s ${limit}. Lower it, or raise the environment’s.`,
    )
  }
  for (const service of services.values()) {
    const field = root.get('services').get(service.name)
    if ((service.memoryBytes ?? 0) > memoryMb * 1024 * 1024)
      throw refuse(field, ['memory', 'mem_limit'], `${memoryMb} MiB`)
    if ((service.cpus ?? 0) > cpus) throw refuse(field, ['cpus', 'cpus'], `${cpus}`)
  }
}

const keyOf = ({ kind, value }: Danger) =>
  kind === 'host_namespace' ? (value === 'network' ? 'network_mode' : value) : keysOf[kind]

const keysOf: Record<Exclude<DangerKind, 'host_namespace'>, string> = {
  privileged: 'privileged',
  host_path: 'volumes',
  engine_socket: 'volumes',
  nested_path: 'volumes',
  device: 'devices',
  capability: 'cap_add',
  host_gateway: 'extra_hosts',
  unconfined: 'security_opt',
}
