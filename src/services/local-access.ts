import { placesOf } from '../addresses/places.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { waitUntilAnswers } from '../docker/index.ts'
import type { ContainerSummary, Docker, Engines } from '../docker/index.ts'
import { partLabel } from '../docker/labels.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { firstServer } from '../platform/root.ts'
import type { Secrets } from '../platform/secrets.ts'
import { filterOf, networkNameOf } from '../runtime/workload.ts'
import { addressOf } from './address.ts'
import { connectionOf } from './compose/connection.ts'
import { ofImage } from './compose/template.ts'
import { fullValues, versionedStack } from './definition.ts'
import type { Definition } from './definition.ts'
import { serverOf } from './placement.ts'
import type { Target } from './ports.ts'
import { getService, listPorts, listWithOwners } from './store.ts'
import type { Service } from './store.ts'

/** Access to a service from its server, even while Davit isn't running. */
export type LocalDeps = {
  config: Config
  db: Db
  docker: Pick<Docker, 'whyApart'>
  engines: Engines
  secrets: Secrets
  instanceId: string
}

const maxNamed = 10

export function serviceNamed(
  { db }: Pick<LocalDeps, 'db'>,
  { name, owner }: { name: string; owner: string | null },
): Service {
  const all = listWithOwners(db)
  const found = all.filter(
    (one) => (one.id === name || one.name === name) && (owner === null || one.owner === owner),
  )
  if (found.length === 1) return getService(db, found[0]!.id)!
  if (found.length > 1)
    throw new AppError(
      'conflict',
      `${found.length} services are named ${name}. Add --owner with one of: ${found.map((one) => one.owner).join(', ')}.`,
    )
  const named = all.slice(0, maxNamed).map((one) => `${one.name} (${one.owner})`)
  const more = all.length > maxNamed ? ` and ${all.length - maxNamed} more` : ''
  throw new AppError(
    'not_found',
    `There is no service ${name}${owner === null ? '' : ` of ${owner}`}. ${named.length > 0 ? `Services: ${named.join(', ')}${more}.` : 'There are no services yet.'}`,
  )
}

/** Containers of another server have no address on this machine. */
export function refuseElsewhere(deps: LocalDeps, service: Service) {
  const serverId = serverOf(service)
  if (serverId === firstServer) return
  const places = placesOf(deps, service.ownerId, serverId)
  const address = addressOf(places, listPorts(deps.db, service.id))
  throw new AppError(
    'conflict',
    `${service.name} runs on another server. ${address ? `Connect to ${address}.` : 'Publish a port of it, and connect to that.'}`,
  )
}

/** Refuses an engine whose containers have no address on this machine. */
export async function refuseUnreachable({ docker }: LocalDeps, signal: AbortSignal) {
  const apart = await docker.whyApart({ signal })
  if (apart === 'remote')
    throw new Failure(
      'engine_remote',
      'Docker runs on another machine (DOCKER_HOST), so its containers can’t be reached from here.',
      'Run this command there.',
    )
  if (apart === 'rootless')
    throw new Failure(
      'engine_rootless',
      'Docker runs rootless, so its containers can’t be reached from outside its namespace.',
      'Publish a port of the service instead.',
    )
}

/** The port that the service's clients connect to: the first one published or exposed, else its image's. */
export async function mainTarget(
  deps: LocalDeps,
  service: Service,
  { definition, signal }: { definition: Definition; signal: AbortSignal },
): Promise<Target> {
  const published = definition.ports
    .filter(({ protocol, containerPort }) => protocol === 'tcp' && containerPort !== ofImage)
    .map(({ target, containerPort }) => ({ component: target, port: containerPort }))
  const { services } = versionedStack(deps, definition)
  const exposed = [...services.values()].flatMap(({ name, expose }) =>
    expose.map((port) => ({ component: name, port })),
  )
  const [first] = [...published, ...exposed]
  return first ?? (await targetOfImage(deps, service, signal))
}

async function targetOfImage(deps: LocalDeps, service: Service, signal: AbortSignal) {
  for (const one of (await runningOf(deps, service, signal)).toReversed()) {
    const ports = (await deps.engines.inspect(one, { signal }))?.exposedPorts ?? []
    const port = ports.find(({ protocol }) => protocol === 'tcp')?.container
    if (port) return { component: one.labels[partLabel]!, port }
  }
  throw new AppError(
    'invalid',
    `Neither the file of ${service.name} nor its image has a port. Add --target component:port.`,
  )
}

/** The current address, since a changed service has new containers. Throws when it isn't running. */
export async function addressOfTarget(
  deps: LocalDeps,
  service: Pick<Service, 'id' | 'ownerId' | 'name'>,
  { component, signal }: Pick<Target, 'component'> & { signal: AbortSignal },
): Promise<string> {
  const running = await runningOf(deps, service, signal)
  const found = running.find(({ labels }) => labels[partLabel] === component)
  const address = found?.addresses[networkNameOf(service)]
  if (address) return address
  const names = [...new Set(running.map(({ labels }) => labels[partLabel]!))]
  throw new AppError(
    'conflict',
    names.length === 0
      ? `The service ${service.name} isn’t running. Start it first.`
      : `The service ${service.name} has no running component ${component}. Components: ${names.join(', ')}.`,
  )
}

const runningOf = (
  { engines, instanceId }: LocalDeps,
  { id }: Pick<Service, 'id'>,
  signal: AbortSignal,
): Promise<ContainerSummary[]> => {
  const labels = filterOf(instanceId, { id, kind: 'service' })
  return engines.all[0].listContainers({ labels, signal })
}

/** In milliseconds, for a running component to accept a connection. */
const timeoutMs = 2000

/** Throws when nothing accepts a connection. */
export async function refuseSilent(address: string, port: number, signal: AbortSignal) {
  const { answered, lastSeen } = await waitUntilAnswers({
    ...{ address, port, path: null, timeout: timeoutMs, signal },
  })
  if (answered) return
  throw new AppError(
    'conflict',
    lastSeen === 'connection refused'
      ? `Nothing listens on port ${port} there. Choose another one with --target component:port.`
      : `Port ${port} at ${address} accepted no connection: ${lastSeen}. Check this server’s firewall.`,
  )
}

const hidden = '********'

/** The line for a client that connects to that address, with secrets hidden; null when the file has none. */
export function localUrl(
  deps: LocalDeps,
  definition: Definition,
  { target, at }: { target: Target; at: string },
): string | null {
  const { variables } = definition.file
  const values = [...fullValues(deps, definition)].map(([name, value]): [string, string] => [
    name,
    variables.get(name)?.secret ? hidden : value,
  ])
  const place = /^([\w+.-]+:\/\/(?:[^@/]*@)?)[^/?#:]*:(\d+)/
  const named = { host: definition.host ?? '', values: new Map(values) }
  for (const { value } of connectionOf(definition.file, named)) {
    const [all, start, port] = place.exec(value) ?? []
    if (all && Number(port) === target.port) return value.replace(all, () => start + at)
  }
  return null
}
