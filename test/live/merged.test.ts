import { expect, test } from 'bun:test'
import { merged } from '../../src/live/merged.ts'

async function* of(...items: number[]) {
  yield* items
}

test('what several sources have comes whole, each in its order, and ends with the last', async () => {
  const seen = await Array.fromAsync(merged([of(1, 2, 3), of(), of(10, 20)]))
  expect(seen.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 10, 20])
  expect(seen.filter((item) => item < 10)).toEqual([1, 2, 3])
})

test('a source that is quiet holds up no other', async () => {
  const quiet = Promise.withResolvers<void>()
  async function* late() {
    await quiet.promise
    yield 9
  }
  const items = merged([late(), of(1, 2)])
  expect([(await items.next()).value, (await items.next()).value]).toEqual([1, 2])
  quiet.resolve()
  expect((await items.next()).value).toBe(9)
  expect((await items.next()).done).toBe(true)
})

test('who leaves ends the sources, and an error of one is that of all', async () => {
  const ended = Promise.withResolvers<void>()
  async function* endless() {
    try {
      for (let n = 0; ; n++) yield n
    } finally {
      ended.resolve()
    }
  }
  for await (const item of merged([endless()])) if (item === 2) break
  await ended.promise
  async function* broken(): AsyncGenerator<number> {
    throw new Error('gone')
  }
  expect(Array.fromAsync(merged([broken(), endless()]))).rejects.toThrow('gone')
})

test('a source that is quiet keeps nothing of what the others said', async () => {
  const said: WeakRef<object>[] = []
  async function* quiet(): AsyncGenerator<object> {
    await new Promise(() => {})
  }
  async function* loud() {
    for (;;) {
      const item = { text: 'x'.repeat(100) }
      said.push(new WeakRef(item))
      yield item
    }
  }
  const items = merged([quiet(), loud()])
  for (let n = 0; n < 1000; n++) await items.next()
  await Bun.sleep(0) // a WeakRef that was made in this turn holds its object
  Bun.gc(true)
  expect(said.filter((ref) => ref.deref()).length).toBeLessThan(100)
})
