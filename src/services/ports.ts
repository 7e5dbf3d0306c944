import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { Docker } from '../docker/index.ts'
import { AppError, conflictField, invalidField } from '../platform/errors.ts'
import { freeHostPort, isAutomatic, refuseUsedPort } from '../addresses/host-ports.ts'
import { placesOf } from '../addresses/places.ts'
import { listHostPorts } from '../addresses/store.ts'
import type { Stack } from './compose/model.ts'
import { ofImage } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { isSamePlace } from './store.ts'
import type { ServicePort } from './store.ts'

/** A port to publish. `host` is the file's; null means any. */
export type WantedPort = Omit<ServicePort, 'port'> & { host: number | null }

/** A component, and the port on which it listens in its container. */
export type Target = { component: string; port: number }

/** Returns the reason why a domain can't point to the component and port; null when it can. */
export function whyNoTarget({ services }: Pick<Stack, 'services'>, target: Target): string | null {
  const component = services.get(target.component)
  if (!component) return `must be one of its components: ${[...services.keys()].join(', ')}.`
  if (component.hostNamespaces.includes('network'))
    return `can’t be ${component.name}, which uses the network of the server.`
  const protocols = component.ports.flatMap(({ container, protocol }) =>
    container === target.port ? protocol : [],
  )
  return protocols.length > 0 && !protocols.includes('tcp')
    ? `has port ${target.port}, which is UDP. It must be a TCP port.`
    : null
}

/** In order; the instance's address leads to the first one. */
export function portsWanted({ expose }: Pick<Template, 'expose'>, stack: Stack): WantedPort[] {
  const inFile = [...stack.services.values()].flatMap(({ name, ports }) =>
    ports.map(({ container, protocol, host }) => ({
      ...{ target: name, containerPort: container, protocol, host },
    })),
  )
  const exposed = expose.map(({ service, port }) => ({
    target: service,
    containerPort: port,
    protocol: 'tcp' as const,
    host: null,
  }))
  const all = new Map<string, WantedPort>()
  for (const port of [...exposed, ...inFile])
    all.set(keyOf(port), { ...port, host: port.host ?? all.get(keyOf(port))?.host ?? null })
  return [...all.values()]
}

/** Per instance: host ports are scarce, and finding a free one takes time. */
const maxPorts = 256

/**
 * Chooses a host port for each: the first one gets the requested port, all others their previous one, the
 * file's, or a free one. For null, the first one loses its previous port, unless that may be such a free one.
 * Throws `conflict` for a port that is in use.
 */
export function choosePorts(
  deps: { db: Db; config: Config; docker: Docker },
  wanted: WantedPort[],
  {
    ownerId,
    serverId,
    asked,
    kept = [],
  }: {
    ownerId: string
    serverId: string
    asked: number | null | undefined
    kept?: ServicePort[]
  },
): ServicePort[] {
  if (asked && wanted.length === 0)
    throw invalidField('hostPort', 'must be empty, because this service publishes no port.')
  if (wanted.length > maxPorts)
    throw new AppError(
      'invalid',
      `The file publishes ${wanted.length} ports; the maximum is ${maxPorts}. Publish fewer.`,
    )
  const places = placesOf(deps, ownerId, serverId)
  const chosen: ServicePort[] = []
  for (const [index, { host, ...port }] of wanted.entries())
    chosen.push({ ...port, port: choose(port, host, index === 0 ? asked : undefined) })
  return chosen

  function choose(
    port: Omit<ServicePort, 'port'>,
    host: number | null,
    askedHere: number | null | undefined,
  ) {
    const before = kept.find((other) => isSame(other, port))?.port ?? null
    const stays = askedHere !== null || (host === null && before !== null && isAutomatic(before))
    const twin = chosen.find((other) => isSamePlace(other, port))
    const wish = askedHere ?? (stays ? before : null) ?? host ?? twin?.port ?? null
    if (wish === null) return free()
    if (twin?.port === wish) return wish
    if (chosen.some((other) => other.port === wish)) throw twice(wish)
    if (kept.some((other) => other.port === wish)) return wish
    if (listHostPorts(deps.db).includes(wish)) throw ofAnApp(wish)
    refuseUsedPort(deps, { port: wish, ...places })
    return wish
  }

  /** A port that its image exposes was stored under its number when the image was pulled. */
  function isSame(other: ServicePort, port: Omit<ServicePort, 'port'>) {
    if (port.containerPort !== ofImage) return keyOf(other) === keyOf(port)
    return other.target === port.target && !wanted.some((one) => keyOf(one) === keyOf(other))
  }

  function free(): number {
    const port = freeHostPort(deps, places)
    return chosen.some((other) => other.port === port) ? free() : port
  }
}

const keyOf = ({ target, containerPort, protocol }: Omit<ServicePort, 'port'>) =>
  `${target} ${containerPort}/${protocol}`

/** Refuses a file whose published ports change once it knows the address, which depends on these. */
export function refuseOtherPorts(chosen: ServicePort[], wanted: WantedPort[]) {
  const keys = new Set(chosen.map(keyOf))
  if (wanted.length === keys.size && wanted.every((port) => keys.has(keyOf(port)))) return
  throw new AppError(
    'invalid',
    'The published ports depend on DAVIT_URL or DAVIT_HOST, which depend on them. Use fixed ports.',
  )
}

/** Names without a target lead to the first TCP port; `had` are those of before. */
export function refuseUnled(
  { domains, ports }: { domains: string[]; ports: ServicePort[] },
  had: string[] = [],
) {
  if (ports.some(({ protocol }) => protocol === 'tcp')) return
  if (domains.some((host) => !had.includes(host)))
    throw invalidField(
      'domains',
      'lead to the first TCP port that a service publishes, and this one publishes none. Add each on its Domains page, with a target such as web:8080.',
    )
}

const ofAnApp = (port: number) =>
  conflictField('hostPort', `An app uses port ${port} of this server. Choose another one.`)

const twice = (port: number) =>
  new AppError(
    'conflict',
    `Port ${port} of this server is used twice. Give each service its own port.`,
  )
