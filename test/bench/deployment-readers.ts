import { join } from 'node:path'
import { failingBuild, startLogDavit } from '../faults/log-davit.ts'
import { processorTime } from './process.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

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
  const program = join(import.meta.dir, 'deployment-readers-floor.ts')
  const child = Bun.spawn([process.execPath, program, String(rate)], { stdout: 'pipe' })
  try {
    const { value } = await child.stdout.getReader().read()
    return await watch(child.pid, new TextDecoder().decode(value).trim(), 'X-Nothing: asked')
  } finally {
    child.kill()
    await child.exited
  }
}

/** Nanoseconds of the server’s processor time for a line at a reader, and how late the latest came. */
async function watch(pid: number, address: string, header: string): Promise<Measured> {
  const program = join(import.meta.dir, 'deployment-readers-clients.ts')
  const options = [address, header, String(readers), String(seconds)]
  const clients = Bun.spawn([process.execPath, program, ...options], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let before = 0
  let text = ''
  for await (const chunk of clients.stdout.pipeThrough(new TextDecoderStream())) {
    if (text === '') before = processorTime(pid)
    text += chunk
  }
  const used = processorTime(pid) - before
  const { lines, misplaced, p99 } = JSON.parse(text.split('\n')[1]!)
  if (misplaced > 0) throw new Error(`${misplaced} of ${lines} lines were not in their place`)
  if (lines < readers * rate * seconds * 0.5) throw new Error(`Only ${lines} lines came`)
  return { nanoseconds: (used / lines) * 1e9, p99 }
}
