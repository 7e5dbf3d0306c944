import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { Docker } from '../docker/index.ts'
import { AppError, conflictField } from '../platform/errors.ts'
import type { Places } from './places.ts'
import { listHostPorts, listServicePorts } from './store.ts'

/** Above what most software uses, below the range that Linux takes for outgoing connections. */
const first = 20_000
const last = 29_999

/** A port of this host that nobody has and nothing listens on; whoever gets it keeps it for good. */
export function freeHostPort(db: Db, { publishAddress }: Places) {
  const taken = new Set([...listHostPorts(db), ...listServicePorts(db)])
  const count = last - first + 1
  const start = Math.floor(Math.random() * count)
  for (let i = 0; i < count; i++) {
    const port = first + ((start + i) % count)
    if (!taken.has(port) && canListen(publishAddress, port)) return port
  }
  throw new AppError('conflict', `All ports from ${first} to ${last} are in use on this host.`)
}

/** Refuses a port that something other than an environment of ours holds; those are told apart when it is stored. */
export function refuseUsedPort(
  { db, config, docker }: { db: Db; config: Config; docker: Docker },
  { port, publishAddress }: { port: number; publishAddress: string },
) {
  const isFree = !listServicePorts(db).includes(port)
  if (isFree && (docker.remote || listHostPorts(db).includes(port))) return
  if (isFree && port !== config.port && canListen(publishAddress, port)) return
  throw conflictField(
    'hostPort',
    `Something on this host listens on port ${port} already. Choose another one.`,
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
