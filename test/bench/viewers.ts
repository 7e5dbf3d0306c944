import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'
import { printer } from './printer.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'
import { logInToBench } from './reader.ts'

const viewers = 1000
const rate = 100
const seconds = 10
const pairs = 7

type Measured = { cpu: number; p99: number }

/** Many viewers of the log and the stats of one container, against a server that does nothing else. */
export async function benchViewers(directory: string, executable: string[]): Promise<Row[]> {
  const env = {
    DAVIT_STREAMS_PER_USER: '100000',
    DAVIT_RATE_LIMIT: '1000000',
    DAVIT_RATE_BURST: '1000000',
  }
  const delays = { davit: [] as number[], floor: [] as number[] }
  const values = await inPairs(pairs, {
    davit: async () => {
      const fresh = join(directory, Bun.randomUUIDv7())
      mkdirSync(fresh)
      const data = { DAVIT_DATA_DIR: join(fresh, 'data') }
      const started = { directory: fresh, command: executable, env: { ...env, ...data } }
      const davit = await startDavit(started)
      const container = await printer({ perSecond: rate })
      try {
        const header = await logInToBench(davit.url)
        const path = `${davit.url}/containers/${container.id}`
        const measured = await watch(davit.pid, [`${path}/logs?tail=0`, `${path}/stats`, header])
        delays.davit.push(measured.p99)
        return measured.cpu
      } finally {
        await container.remove()
        await davit.stop()
      }
    },
    floor: async () => {
      const floor = await startFloor()
      try {
        const measured = await watch(floor.pid, [
          `${floor.url}/logs`,
          `${floor.url}/stats`,
          'X-A: b',
        ])
        delays.floor.push(measured.p99)
        return measured.cpu
      } finally {
        floor.stop()
      }
    },
  })
  const what = `${viewers} viewers of a container’s log at ${rate} lines/s and of its stats`
  const against = 'a batching SSE server on Bun'
  return [
    { what: `${what}, processor`, against, unit: 'ns/line', ...values, aim: '≤ 1.5' },
    { what: `${what}, delay, 99th percentile`, against, unit: 'ms', ...delays, aim: 'every line' },
  ]
}

/** Nanoseconds of the server’s processor time for a line at a viewer, and how late the latest came. */
async function watch(pid: number, targets: string[]): Promise<Measured> {
  const script = join(import.meta.dir, 'sse-clients.ts')
  const command = [process.execPath, script, ...targets, String(viewers), String(seconds)]
  const clients = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
  let before = 0
  let text = ''
  for await (const chunk of clients.stdout.pipeThrough(new TextDecoderStream())) {
    if (text === '') before = processorTime(pid)
    text += chunk
  }
  const used = processorTime(pid) - before
  const { lines, missed, p99, events } = JSON.parse(text.split('\n')[1]!)
  if (missed > 0) throw new Error(`${missed} of ${lines} lines did not come, or not in order`)
  if (lines < viewers * rate * seconds * 0.5) throw new Error(`Only ${lines} lines came`)
  if (events < viewers * (seconds / 2 - 2)) throw new Error(`Only ${events} events of stats came`)
  return { cpu: (used / lines) * 1e9, p99 }
}

/** Seconds, in user and system mode. */
function processorTime(pid: number) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

async function startFloor() {
  const script = join(import.meta.dir, 'sse-floor.ts')
  const child = Bun.spawn([process.execPath, script, String(rate)], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const url = new TextDecoder().decode(value).trim()
  return { url, pid: child.pid, stop: () => child.kill() }
}
