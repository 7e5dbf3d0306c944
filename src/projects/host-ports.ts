import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { AppError } from '../errors.ts'
import { listHostPorts } from './store.ts'

/** Above what most software uses, below the range that Linux takes for outgoing connections. */
const first = 20_000
const last = 29_999

/** A port of this host that no environment has and nothing listens on; an environment keeps it for good. */
export function freeHostPort(db: Db, { publishAddress }: Pick<Config, 'publishAddress'>) {
  const taken = new Set(listHostPorts(db))
  const count = last - first + 1
  const start = Math.floor(Math.random() * count)
  for (let i = 0; i < count; i++) {
    const port = first + ((start + i) % count)
    if (!taken.has(port) && canListen(publishAddress, port)) return port
  }
  throw new AppError('conflict', `All ports from ${first} to ${last} are in use on this host.`)
}

function canListen(hostname: string, port: number) {
  try {
    Bun.listen({ hostname, port, socket: { data() {} } }).stop(true)
    return true
  } catch {
    return false
  }
}
