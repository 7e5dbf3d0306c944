import { residentMemory } from '../bench/process.ts'
import { failingBuild, startLogDavit } from './log-davit.ts'
import type { LogDavit } from './log-davit.ts'
import { LogReader } from './log-reader.ts'
import type { FaultReport } from './report.ts'

/** MiB by which the memory of a process differs from one run to the next, whoever reads. */
const noise = 60

/** Of those who stalled first, and of those who did last, so many read on to the end. */
const witnesses = 2

/** Milliseconds until those who come late have what they do not read, and what the build left is gone. */
const settleTime = 2500

type Options = {
  readers: number
  lines: number
  /** Seconds for which nobody reads on after the last line. */
  seconds: number
  command?: string[]
}

/**
 * Many open the log of a build that prints without pause, and read nothing; one more reads along. They
 * may cost 1 MiB each over what the same build costs without them, and then get every line.
 */
export async function stalledReaders(options: Options): Promise<FaultReport> {
  const davit = await startLogDavit(options.command ? { command: options.command } : {})
  try {
    const alone = await readBuild(davit, { ...options, readers: 0 })
    const among = await readBuild(davit, options)
    const each = (among.memory - alone.memory) / options.readers
    const isFlat = among.memory - alone.memory <= options.readers + noise
    return {
      what: `${options.readers} readers of a build’s log who read nothing, and then read on`,
      unit: 'lines lost or doubled, or more than 1 MiB for each',
      rounds: among.lines,
      bad: alone.wrong + among.wrong + (isFlat ? 0 : 1),
      figures: [
        `${each.toFixed(2)} MiB for each (${alone.memory.toFixed(0)} without them)`,
        `the one who reads along ends after ${among.duration.toFixed(1)} s, alone after ${alone.duration.toFixed(1)} s`,
      ].join('; '),
    }
  } finally {
    await davit.remove()
  }
}

async function readBuild(davit: LogDavit, { readers, lines, seconds }: Options) {
  const text = 'INFO request served path=/api/items status=200 dur=12ms '.repeat(8)
  const print = `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "$i ${text}"; done`
  const path = await davit.deploy(failingBuild(`sleep 1; ${print}`))
  const address = `${davit.url}${path}/logs`
  const open = () => new LogReader(address, davit.authorization)
  const along = open()
  // half of them stall while it grows, half with what is stored
  const stalled = Array.from({ length: readers / 2 }, open)
  try {
    const from = performance.now()
    await along.read()
    const duration = (performance.now() - from) / 1000
    while (stalled.length < readers) stalled.push(open())
    await Bun.sleep(settleTime + seconds * 1000)
    const memory = residentMemory(davit.pid)
    const late = stalled.filter((_, at) => at < witnesses || at >= readers - witnesses)
    await Promise.all(late.map((reader) => reader.read()))
    const { length } = await davit.stored(path)
    const wrong = [along, ...late].map((reader) => reader.wrong + Math.abs(length - reader.last))
    const short = length > lines ? 0 : 1
    const lost = wrong.reduce((sum, count) => sum + count, short)
    return { memory, duration, lines: length * wrong.length, wrong: lost }
  } finally {
    for (const reader of stalled) reader.leave()
  }
}
