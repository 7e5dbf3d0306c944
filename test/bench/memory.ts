import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'
import { compileBareHono } from './bare-hono-executable.ts'
import { residentMemory } from './process.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const pairs = 7

/** Milliseconds after which a server that nobody asks anything counts as idle. */
const settleTime = 3000

/** Resident memory of the executable, engine watched and nobody asking, against bare Hono on Bun. */
export async function benchMemory(directory: string, executable: string): Promise<Row> {
  const bare = await compileBareHono(directory)
  const values = await inPairs(pairs, {
    davit: () => idleMemory(directory, executable),
    floor: () => idleMemory(directory, bare),
  })
  const against = 'bare Hono on Bun, compiled'
  return {
    what: 'resident memory, idle',
    against,
    unit: 'MiB',
    ...values,
    aim: '≤ 2.0',
    peer: '4.2',
  }
}

export async function idleMemory(directory: string, executable: string) {
  const fresh = join(directory, Bun.randomUUIDv7())
  mkdirSync(fresh)
  const env = { DAVIT_DATA_DIR: join(fresh, 'data') }
  const server = await startDavit({ directory: fresh, command: [executable], env })
  await fetch(`${server.url}/health/ready`)
  await Bun.sleep(settleTime)
  const used = residentMemory(server.pid)
  await server.stop()
  return used
}
