import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'
import { compileBareHono } from './bare-hono-executable.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const pairs = 9

/** From the start of the executable to the first 200, an installation that has been used before. */
export async function benchStart(directory: string, executable: string): Promise<Row> {
  const bare = await compileBareHono(directory)
  const fresh = join(directory, 'start')
  mkdirSync(fresh)
  const env = { DAVIT_DATA_DIR: join(fresh, 'data') }
  const davit = () => timeToReady({ directory: fresh, command: [executable], env })
  const floor = () => timeToReady({ directory: fresh, command: [bare], env })
  await davit() // makes the databases
  await floor()
  const values = await inPairs(pairs, { davit, floor })
  return {
    ...{ what: 'start of the executable, until it is ready', unit: 'ms' },
    ...{ against: 'bare Hono on Bun, compiled', ...values, aim: '≤ 2.5' },
  }
}

/** Milliseconds until `/health/ready` answers 200. */
export async function timeToReady(options: {
  directory: string
  command: string[]
  env: Record<string, string>
}) {
  const from = performance.now()
  const server = await startDavit(options)
  while (!(await fetch(`${server.url}/health/ready`)).ok) continue
  const took = performance.now() - from
  await server.stop()
  return took
}
