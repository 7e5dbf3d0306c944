import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const pairs = 7

/** Milliseconds after which a server that nobody asks anything counts as idle. */
const settleTime = 3000

/** Resident memory of the executable, engine watched and nobody asking, against bare Hono on Bun. */
export async function benchMemory(directory: string, executable: string): Promise<Row> {
  const bare = await compileBareHono(directory)
  const values = await inPairs(pairs, {
    davit: () => residentMemory(directory, executable),
    floor: () => residentMemory(directory, bare),
  })
  const against = 'bare Hono on Bun, compiled'
  return { what: 'resident memory, idle', against, unit: 'MiB', ...values, aim: '≤ 80 MiB' }
}

async function residentMemory(directory: string, executable: string) {
  const fresh = join(directory, Bun.randomUUIDv7())
  mkdirSync(fresh)
  const env = { DAVIT_DATA_DIR: join(fresh, 'data') }
  const server = await startDavit({ directory: fresh, command: [executable], env })
  await fetch(`${server.url}/health/ready`)
  await Bun.sleep(settleTime)
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  await server.stop()
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) / 1024
}

async function compileBareHono(directory: string) {
  const outfile = join(directory, 'bare-hono')
  const source = join(import.meta.dir, 'bare-hono.ts')
  const command = [process.execPath, 'build', '--compile', '--minify', '--outfile', outfile, source]
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'inherit' })
  if ((await child.exited) !== 0) throw new Error('The floor of the memory row does not compile')
  return outfile
}
