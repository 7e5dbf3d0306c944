import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { Docker } from '../docker/index.ts'
import { AppError, conflictField } from '../platform/errors.ts'
import type { Places } from './places.ts'
import { firstServer } from '../platform/root.ts'
import { listHeldPorts } from '../runtime/endpoint-store.ts'
import { listHostPorts, listServicePorts } from './store.ts'

/** Above what most software uses, below the range that Linux uses for outgoing connections. */
const first = 20_000
const last = 29_999

/** True for one that `freeHostPort` could have chosen. */
export const isAutomatic = (port: number) => port >= first && port <= last

/**
 * A port of the host that is unassigned and that nothing listens on, as far as that can be seen from here. It
 * is assigned permanently.
 */
export function freeHostPort(
  { db, config, docker }: { db: Db; config: Config; docker: Pick<Docker, 'remote'> },
  { publishAddress, isElsewhere }: Places,
) {
  const held = isElsewhere
    ? listHeldPorts(db)
    : [...ownPorts(config), ...listHeldPorts(db, firstServer)]
  const taken = new Set([...held, ...listHostPorts(db), ...listServicePorts(db)])
  const count = last - first + 1
  const start = Math.floor(Math.random() * count)
  for (let i = 0; i < count; i++) {
    const port = first + ((start + i) % count)
    if (!taken.has(port) && (docker.remote || isElsewhere || canListen(publishAddress, port)))
      return port
  }
  throw new AppError('conflict', `All ports from ${first} to ${last} are in use on this server.`)
}

/** Ports of this server that Davit and its Caddy listen on. */
export function ownPorts({
  port,
  domain,
  edge,
  edgePorts,
}: Pick<Config, 'port' | 'domain' | 'edge' | 'edgePorts'>) {
  const isEdgeOwn = edge === 'caddy' || (edge === 'auto' && domain !== null)
  return [port, ...(isEdgeOwn ? [edgePorts.http, edgePorts.https] : [])]
}

/** Throws when anything but an environment uses the port; storing it detects other environments. */
export function refuseUsedPort(
  { db, config, docker }: { db: Db; config: Config; docker: Docker },
  {
    port,
    publishAddress,
    isElsewhere,
  }: { port: number } & Pick<Places, 'publishAddress' | 'isElsewhere'>,
) {
  if (isElsewhere) {
    if (![...listServicePorts(db), ...listHeldPorts(db)].includes(port)) return
    throw conflictField('hostPort', `Port ${port} is in use there. Choose another one.`)
  }
  if (!docker.remote && ownPorts(config).includes(port))
    throw conflictField('hostPort', `Davit itself uses port ${port}. Choose another one.`)
  const isFree = ![...listServicePorts(db), ...listHeldPorts(db, firstServer)].includes(port)
  if (isFree && (docker.remote || listHostPorts(db).includes(port))) return
  if (isFree && canListen(publishAddress, port)) return
  throw conflictField(
    'hostPort',
    `Another program on this server already listens on port ${port}. Choose another one.`,
  )
}

function canListen(hostname: string, port: number) {
  try {
    Bun.listen({ hostname, port, socket: { data() {} } }).stop(true)
    return true
  } catch {
    return false
  }
}
