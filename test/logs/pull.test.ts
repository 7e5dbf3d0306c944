import { expect, test } from 'bun:test'
import type { LogEntry } from '../../src/docker/index.ts'
import { pull } from '../../src/logs/pull.ts'
import { limitOfBatch, Placer } from '../../src/logs/position.ts'
import type { Placed, Position } from '../../src/logs/position.ts'

const second = Date.parse('2026-11-20T03:00:00Z')
const stamp = (milliseconds: number) =>
  new Date(second + milliseconds).toISOString().replace('Z', '000000Z')

const entry = (at: number, text: string, stream: LogEntry['stream'] = 'stdout'): LogEntry => ({
  timestamp: stamp(at),
  stream,
  text,
  ended: true,
})

/** What the engine answers when its files hold these entries; and how often it was asked. */
function engineWith(entries: LogEntry[]) {
  const asked: (number | undefined)[] = []
  return {
    asked,
    async *snapshot({ tail, since }: { tail?: number | undefined; since?: string | undefined }) {
      asked.push(tail)
      const from = since ? Number(since) * 1000 - second : -Infinity
      const found = entries
        .slice(tail ? -tail : 0)
        .filter(({ timestamp }) => Date.parse(timestamp) - second >= from)
      for (let at = 0; at < found.length; at += 3) yield found.slice(at, at + 3)
    },
  }
}

async function read(
  entries: LogEntry[],
  position: Position | null,
  { expected = 500, overlap = 50, mayBeEarlier = false } = {},
) {
  const engine = engineWith(entries)
  const found: Placed[] = []
  let gaps = 0
  const options = { position, expected, overlap, mayBeEarlier }
  for await (const pulled of pull(engine.snapshot, options)) {
    found.push(...pulled.entries)
    if (pulled.gap) gaps++
  }
  return {
    texts: found.map(({ text }) => text).join(' '),
    last: found.at(-1)?.position,
    gaps,
    asked: engine.asked,
  }
}

test('all there is comes without a position, and only what is new after it', async () => {
  const entries = [entry(0, 'a'), entry(1, 'b'), entry(2, 'c')]
  const { texts, last } = await read(entries, null)
  expect(texts).toBe('a b c')
  expect(await read(entries, last!)).toMatchObject({ texts: '', gaps: 0, asked: [500] })
  const more = [...entries, entry(3, 'd'), entry(900, 'e')]
  expect(await read(more, last!)).toMatchObject({ texts: 'd e', gaps: 0, asked: [500] })
})

test('the order of the files counts, not that of the timestamps', async () => {
  const entries = [entry(5, 'a', 'stderr'), entry(3, 'b'), entry(4, 'c', 'stderr'), entry(2, 'd')]
  const { last } = await read(entries.slice(0, 2), null)
  expect((await read(entries, last!)).texts).toBe('c d')
  const first = (await read(entries.slice(0, 1), null)).last
  expect((await read(entries, first!)).texts).toBe('b c d')
})

test('entries of one moment are distinguished by their number', async () => {
  const entries = ['a', 'b', 'c', 'd', 'e'].map((text) => entry(7, text))
  for (let count = 1; count <= 5; count++) {
    const { last } = await read(entries.slice(0, count), null)
    expect(last!.ordinal).toBe(count)
    for (const expected of [1, 2, 3, 4, 5, 500])
      expect((await read(entries, last!, { expected })).texts).toBe(
        entries
          .slice(count)
          .map(({ text }) => text)
          .join(' '),
      )
  }
})

test('more is asked for when the answer does not reach back', async () => {
  const entries = Array.from({ length: 1000 }, (_, at) => entry(at * 10, String(at)))
  const { last } = await read(entries.slice(0, 100), null)
  const found = await read(entries, last!, { expected: 20 })
  expect(found.texts.split(' ')).toHaveLength(900)
  expect(found.asked).toEqual([20, 160, 1280])
  expect(found.gaps).toBe(0)
})

test('a position that was rotated away leaves a gap, told once', async () => {
  const entries = Array.from({ length: 100 }, (_, at) => entry(at * 10, String(at)))
  const { last } = await read(entries.slice(0, 10), null)
  const found = await read(entries.slice(40), last!)
  expect(found.texts.split(' ')).toHaveLength(60)
  expect(found.gaps).toBe(1)
  // so near that it could still have been out of order
  expect(await read(entries.slice(12), last!, { overlap: 5000 })).toMatchObject({ gaps: 1 })
  expect(await read([], last!)).toMatchObject({ texts: '', gaps: 0 })
})

test('behind a gap so many come at once that a rate can be told of them', async () => {
  const entries = Array.from({ length: 3000 }, (_, at) => entry(at, String(at)))
  const { last } = await read(entries.slice(0, 10), null)
  const { snapshot } = engineWith(entries.slice(500))
  const counts: number[] = []
  for await (const pulled of pull(snapshot, { position: last!, expected: 500, overlap: 50 }))
    counts.push(pulled.gap ? -pulled.entries.length : pulled.entries.length)
  expect(counts[0]).toBeLessThanOrEqual(-1000)
  expect(counts.slice(1).every((count) => count > 0)).toBe(true)
  expect(counts.reduce((sum, count) => sum + Math.abs(count), 0)).toBe(2500)
})

test('entries from before the clock was set back come neither again, nor instead of new ones', async () => {
  const hour = 3_600_000
  const ahead = Array.from({ length: 2000 }, (_, at) => entry(hour + at, `ahead ${at}`))
  const entries = [...ahead, entry(10, 'a'), entry(20, 'b'), entry(30, 'c')]
  const { last } = await read(entries.slice(0, -2), null)
  expect(await read(entries, last!)).toMatchObject({ texts: 'b c', gaps: 0, asked: [500] })
  const before = (await read(ahead, null)).last!
  const mayBeEarlier = true
  expect(await read(entries, before, { mayBeEarlier })).toMatchObject({ texts: 'a b c', gaps: 0 })
  expect((await read(entries, before, { mayBeEarlier, expected: 2 })).texts).toBe('a b c')
  expect(await read(ahead.slice(-9), last!, { mayBeEarlier })).toMatchObject({ gaps: 1 })
  const placer = new Placer()
  const both = entries.map((one) => placer.place(one))
  expect(limitOfBatch(second + 40, both)).toBe(Infinity) // the first ones would hold up the others
  expect(limitOfBatch(second + 40, both.slice(-3))).toBe(second + 40)
})
