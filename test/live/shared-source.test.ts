import { expect, test } from 'bun:test'
import { SharedSource } from '../../src/live/shared-source.ts'

/** A source that says what it is given, and when it is open. */
function aSource() {
  const open: { key: string; signal: AbortSignal }[] = []
  let say: (message: number | null) => void = () => {}
  const source = new SharedSource<number>(async function* (key, signal) {
    open.push({ key, signal })
    for (;;) {
      const message = await new Promise<number | null>((resolve) => (say = resolve))
      if (message === null) return
      yield message
    }
  })
  return { source, open, say: (message: number | null) => say(message) }
}

const follow = (source: SharedSource<number>) => {
  const abort = new AbortController()
  return { abort, reader: source.follow('a', abort.signal) }
}

test('it is opened once for all, and who comes later begins with the latest message', async () => {
  const { source, open, say } = aSource()
  const [one, two] = [follow(source), follow(source)]
  expect(open).toHaveLength(1)
  say(1)
  expect(await Promise.all([one.reader.next(), two.reader.next()])).toMatchObject([
    { value: 1 },
    { value: 1 },
  ])
  expect(source.latest('a')).toBe(1)
  expect(await follow(source).reader.next()).toMatchObject({ value: 1 })
  expect(open).toHaveLength(1)
})

test('it is closed when the last has left, whether by the signal or by the end of a loop', async () => {
  const { source, open } = aSource()
  const [one, two] = [follow(source), follow(source)]
  one.abort.abort()
  one.abort.abort()
  expect(open[0]!.signal.aborted).toBe(false)
  await two.reader.return!()
  expect(open[0]!.signal.aborted).toBe(true)
  expect(source.size).toBe(0)
  follow(source)
  expect(open).toHaveLength(2)
})

test('one that ended by itself is opened again for who comes next', async () => {
  const { source, open, say } = aSource()
  const { reader } = follow(source)
  say(1)
  await reader.next()
  say(null)
  while (source.isOpen('a')) await Bun.sleep(0)
  expect(source.latest('a')).toBeUndefined()
  follow(source)
  expect(open).toHaveLength(2)
})

test('whose signal is over already holds nothing open', () => {
  const { source } = aSource()
  source.follow('a', AbortSignal.abort())
  expect(source.size).toBe(0)
})
