import { expect, test } from 'bun:test'
import { endsWhileAdvancing, pause, untilBeat } from '../../src/platform/pause.ts'

const busyFor = (milliseconds: number) => {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

test('work that is short goes on in one turn of the loop', async () => {
  let turns = 0
  setImmediate(() => turns++)
  for (let n = 0; n < 10; n++) await pause()
  expect(turns).toBe(0)
})

test('whoever waits for a beat ends at the same time', () => {
  const ends = [0, 1, 2500, 4999].map((now) => now + untilBeat(5000, 60_000 + now))
  expect(ends).toEqual([5000, 5000, 5000, 5000])
})

test('work that is long lets others have their turn, and all long work shares one slice', async () => {
  const order: string[] = []
  const work = async (name: string) => {
    for (let n = 0; n < 3; n++) {
      busyFor(10)
      order.push(name)
      await pause()
    }
  }
  setImmediate(() => order.push('other'))
  await Promise.all([work('a'), work('b')])
  expect(order).toEqual(['a', 'b', 'other', 'a', 'b', 'a', 'b'])
})

test('work is waited for while it advances, and given up when it does not', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let steps = 0
  const advance = () => {
    if (++steps === 20) resolve()
    return steps
  }
  expect(await endsWhileAdvancing(1, promise, advance)).toBe(true)
  expect(await endsWhileAdvancing(1, new Promise(() => {}), () => 1)).toBe(false)
})
