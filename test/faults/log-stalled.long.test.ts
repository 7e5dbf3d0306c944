import { expect, onTestFinished, test } from 'bun:test'
import { residentMemory } from '../bench/process.ts'
import { failingBuild, startLogDavit } from './log-davit.ts'
import { LogReader } from './log-reader.ts'

/** MiB by which the memory of a process differs from one run to the next, whoever reads. */
const noise = 60

const lines = 40_000

/** Of those who stalled first, and of those who did last, so many read on to the end. */
const witnesses = 2

/** They may cost 1 MiB each over what the same build costs without them. */
test('readers who read nothing cost next to nothing, and get every line when they read on', async () => {
  const davit = await startLogDavit()
  onTestFinished(() => davit.remove())
  const alone = await memoryWith(0)
  expect((await memoryWith(40)) - alone).toBeLessThan(40 + noise)

  /** Of a build that prints without pause, whose log so many open, and one more reads along. */
  async function memoryWith(readers: number) {
    const text = 'INFO request served path=/api/items status=200 dur=12ms '.repeat(8)
    const print = `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "$i ${text}"; done`
    const path = await davit.deploy(failingBuild(`sleep 1; ${print}`))
    const open = () => new LogReader(`${davit.url}${path}/logs`, davit.authorization)
    const along = open()
    // half of them stall while it grows, half with what is stored
    const stalled = Array.from({ length: readers / 2 }, open)
    await along.read()
    while (stalled.length < readers) stalled.push(open())
    await Bun.sleep(2500) // they have what they do not read, and what the build left is gone
    const memory = residentMemory(davit.pid)
    const late = stalled.filter((_, at) => at < witnesses || at >= readers - witnesses)
    await Promise.all(late.map((reader) => reader.read()))
    const { length } = davit.stored(path)
    expect(length).toBeGreaterThan(lines)
    for (const reader of [along, ...late]) expect([reader.wrong, reader.last]).toEqual([0, length])
    for (const reader of stalled) reader.leave()
    return memory
  }
})
