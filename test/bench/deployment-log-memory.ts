import { failingBuild, startLogDavit } from '../faults/log-davit.ts'
import type { LogDavit } from '../faults/log-davit.ts'
import { LogReader } from '../faults/log-reader.ts'
import { compileBareHono } from './bare-hono-executable.ts'
import { idleMemory } from './memory.ts'
import { residentMemory } from './process.ts'
import type { Row } from './ratio.ts'

const runs = 3
const lines = 100_000
const readers = 10
const stalled = 100

/** Milliseconds after which a server that nobody asks anything counts as idle. */
const settleTime = 3000

/** What the executable holds after long logs were read by many, and while many read nothing of one. */
export async function benchDeploymentLogMemory(
  directory: string,
  executable: string,
): Promise<Row[]> {
  const bare = await compileBareHono(directory)
  const after = { davit: [] as number[], floor: [] as number[] }
  const among = { davit: [] as number[], floor: [] as number[] }
  for (let run = 0; run < runs; run++) {
    const davit = await startLogDavit({ command: [executable] })
    try {
      for (let log = 0; log < 3; log++) await readLog(davit, { count: readers, isRead: true })
      const held = residentMemory(davit.pid)
      after.davit.push(held)
      after.floor.push(await idleMemory(directory, bare))
      among.davit.push(await readLog(davit, { count: stalled, isRead: false }))
      among.floor.push(held)
    } finally {
      await davit.remove()
    }
  }
  return [
    {
      what: `resident memory after three logs of ${lines} lines, each read by ${readers}`,
      against: 'bare Hono on Bun, compiled',
      unit: 'MiB',
      ...after,
      aim: '≤ 3.5',
    },
    {
      what: `resident memory with ${stalled} readers of such a log who read nothing`,
      against: 'itself, without them',
      unit: 'MiB',
      ...among,
      aim: 'flat',
    },
  ]
}

/** Builds, and answers the memory some seconds after the build’s end, readers who read nothing still there. */
async function readLog(davit: LogDavit, { count, isRead }: { count: number; isRead: boolean }) {
  const text = 'INFO request served path=/api/items status=200 dur=12ms'
  const print = `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "$i ${text}"; done`
  const path = await davit.deploy(failingBuild(`sleep 1; ${print}`))
  const open = () => new LogReader(`${davit.url}${path}/logs`, davit.authorization)
  const along = open()
  const others = Array.from({ length: count }, open)
  await Promise.all([along, ...(isRead ? others : [])].map((reader) => reader.read()))
  await Bun.sleep(settleTime)
  const memory = residentMemory(davit.pid)
  for (const reader of others) reader.leave()
  return memory
}
