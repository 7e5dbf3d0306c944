import { expect, test } from 'bun:test'
import { ImageLock } from '../../src/runtime/images/lock.ts'

const { signal } = new AbortController()

/** Work that lasts until it is ended; tells when it has begun. */
function aScene() {
  const lock = new ImageLock()
  const log: string[] = []
  const begin = (how: 'share' | 'alone', owner: string, on = signal) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = lock[how](owner, on, async () => {
      log.push(`${owner} ${how}`)
      await promise
    })
    return { end: () => (resolve(), done), done }
  }
  return { log, begin }
}

test('builds run beside each other, and a pull waits for those of other owners', async () => {
  const { log, begin } = aScene()
  const [ada, bob] = [begin('share', 'ada'), begin('share', 'bob')]
  const pull = begin('alone', 'ada')
  await Bun.sleep(0)
  expect(log).toEqual(['ada share', 'bob share'])
  await bob.end()
  await Bun.sleep(0)
  expect(log).toEqual(['ada share', 'bob share', 'ada alone'])
  await Promise.all([ada.end(), pull.end()])
})

test('while one pulls, builds of others and other pulls wait; the owner’s own build does not', async () => {
  const { log, begin } = aScene()
  const pull = begin('alone', 'ada')
  const own = begin('share', 'ada')
  const [second, bob] = [begin('alone', 'ada'), begin('share', 'bob')]
  await Bun.sleep(0)
  expect(log).toEqual(['ada alone', 'ada share'])
  await pull.end()
  await Bun.sleep(0)
  expect(log).toEqual(['ada alone', 'ada share', 'ada alone'])
  await second.end()
  await Bun.sleep(0)
  expect(log.at(-1)).toBe('bob share')
  await Promise.all([own.end(), bob.end()])
})

test('builds that keep coming don’t keep a pull from its turn', async () => {
  const { log, begin } = aScene()
  const first = begin('share', 'bob')
  const pull = begin('alone', 'ada')
  const later = begin('share', 'bob')
  await first.end()
  await Bun.sleep(0)
  expect(log).toEqual(['bob share', 'ada alone'])
  await pull.end()
  await later.end()
  expect(log.at(-1)).toBe('bob share')
})

test('an abort ends the wait alone, and lets those behind it in', async () => {
  const { log, begin } = aScene()
  const first = begin('share', 'bob')
  const abort = new AbortController()
  const pull = begin('alone', 'ada', abort.signal)
  const later = begin('share', 'cleo')
  abort.abort(new Error('enough'))
  await expect(pull.done).rejects.toThrow('enough')
  expect(log).toEqual(['bob share', 'cleo share'])
  await Promise.all([first.end(), later.end()])
})
