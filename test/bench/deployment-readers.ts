import { failingBuild, startLogDavit } from '../faults/log-davit.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'
import { runSseClients, startSseFloor } from './sse-load.ts'

const pairs = 7
const readers = 1000
const rate = 100
const seconds = 10

/** A line every 10 ms and a little, with its number and the time; the classic builder waits for its end. */
const script = `i=0; while [ $i -lt ${rate * 300} ]; do i=$((i+1)); echo "$i $EPOCHREALTIME INFO request served path=/api/items"; usleep 8900; done`

type Measured = { nanoseconds: number; p99: number }

/** Many who read the log of one build while it grows, against a server that does nothing else. */
export async function benchDeploymentReaders(command: string[]): Promise<Row[]> {
  const delays = { davit: [] as number[], floor: [] as number[] }
  const values = await inPairs(pairs, {
    davit: async () => {
      const { nanoseconds, p99 } = await watchDavit(command)
      delays.davit.push(p99)
      return nanoseconds
    },
    floor: async () => {
      const { nanoseconds, p99 } = await watchFloor()
      delays.floor.push(p99)
      return nanoseconds
    },
  })
  const what = `${readers} readers of a build’s log at ${rate} lines/s`
  const against = 'a batching SSE server on Bun'
  return [
    { what: `${what}, processor`, against, unit: 'ns/line', ...values, aim: '≤ 1.5' },
    { what: `${what}, delay, 99th percentile`, against, unit: 'ms', ...delays, aim: '≤ 100 ms' },
  ]
}

async function watchDavit(command: string[]) {
  const davit = await startLogDavit({ command })
  const path = await davit.deploy(failingBuild(script))
  try {
    return await watch(
      davit.pid,
      `${davit.url}${path}/logs`,
      `Authorization: ${davit.authorization}`,
    )
  } finally {
    await davit.remove()
  }
}

async function watchFloor() {
  const floor = await startSseFloor('deployment-readers-floor.ts', rate)
  try {
    return await watch(floor.pid, floor.url, 'X-Nothing: asked')
  } finally {
    await floor.stop()
  }
}

type Seen = { lines: number; misplaced: number; p99: number }

/** Nanoseconds of the server’s processor time for a line at a reader, and how late the latest came. */
async function watch(pid: number, address: string, header: string): Promise<Measured> {
  const options = [address, header, String(readers), String(seconds)]
  const seen = await runSseClients<Seen>(pid, 'deployment-readers-clients.ts', options)
  const { lines, misplaced, p99, used } = seen
  if (misplaced > 0) throw new Error(`${misplaced} of ${lines} lines were not in their place`)
  if (lines < readers * rate * seconds * 0.5) throw new Error(`Only ${lines} lines came`)
  return { nanoseconds: (used / lines) * 1e9, p99 }
}
