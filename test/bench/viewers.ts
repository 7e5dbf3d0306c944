import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'
import { printer } from './printer.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'
import { enterWithApp } from './reader.ts'
import { runSseClients, startSseFloor } from './sse-load.ts'

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
      const { header, labels } = await enterWithApp(davit.url, data.DAVIT_DATA_DIR)
      const container = await printer({ perSecond: rate, labels })
      try {
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
      const floor = await startSseFloor('sse-floor.ts', rate)
      try {
        const measured = await watch(floor.pid, [
          `${floor.url}/logs`,
          `${floor.url}/stats`,
          'X-A: b',
        ])
        delays.floor.push(measured.p99)
        return measured.cpu
      } finally {
        await floor.stop()
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

type Seen = { lines: number; missed: number; p99: number; events: number }

/** Nanoseconds of the server’s processor time for a line at a viewer, and how late the latest came. */
async function watch(pid: number, targets: string[]): Promise<Measured> {
  const options = [...targets, String(viewers), String(seconds)]
  const seen = await runSseClients<Seen>(pid, 'sse-clients.ts', options)
  const { lines, missed, p99, events, used } = seen
  if (missed > 0) throw new Error(`${missed} of ${lines} lines did not come, or not in order`)
  if (lines < viewers * rate * seconds * 0.5) throw new Error(`Only ${lines} lines came`)
  if (events < viewers * (seconds / 2 - 2)) throw new Error(`Only ${events} events of stats came`)
  return { cpu: (used / lines) * 1e9, p99 }
}
