import { describe, expect, test } from 'bun:test'
import { KeyedLock, Semaphore } from '../../src/platform/semaphore.ts'

const never = new AbortController().signal

/** Lets everything run that waits for nothing but its turn. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** Work that goes on until it is told to end, and notes when it begins. */
function gatedWork() {
  const gates: PromiseWithResolvers<void>[] = []
  const work = () => {
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    return gate.promise
  }
  return { gates, work }
}

describe('a semaphore', () => {
  test('is held by no more than its count, and the rest follow in order', async () => {
    const semaphore = new Semaphore(2)
    const { gates, work } = gatedWork()
    const ended: number[] = []
    const all = [0, 1, 2, 3].map(async (i) => {
      using _ = await semaphore.acquire()
      await work()
      ended.push(i)
    })
    await settle()
    expect([gates.length, semaphore.waiting]).toEqual([2, 2])
    gates[1]!.resolve()
    await settle()
    expect([ended, gates.length]).toEqual([[1], 3])
    gates[0]!.resolve()
    gates[2]!.resolve()
    await settle()
    gates[3]!.resolve()
    await Promise.all(all)
    expect(ended).toEqual([1, 0, 2, 3])
    expect([semaphore.waiting, semaphore.isIdle]).toEqual([0, true])
  })

  test('a turn that is given back twice counts once', async () => {
    const semaphore = new Semaphore(1)
    const turn = await semaphore.acquire()
    turn[Symbol.dispose]()
    turn[Symbol.dispose]()
    await semaphore.acquire()
    const third = semaphore.acquire()
    await settle()
    expect(semaphore.waiting).toBe(1)
    third.catch(() => {})
  })

  test('who waits and is aborted leaves the line, and takes no one’s turn', async () => {
    const semaphore = new Semaphore(1)
    const first = await semaphore.acquire()
    const abort = new AbortController()
    const second = semaphore.acquire(abort.signal)
    const third = semaphore.acquire()
    abort.abort(new Error('gone'))
    expect(second).rejects.toThrow('gone')
    await settle()
    expect(semaphore.waiting).toBe(1)
    first[Symbol.dispose]()
    expect(semaphore.waiting).toBe(0)
    const turn = await third
    turn[Symbol.dispose]()
    expect(semaphore.isIdle).toBe(true)
    await expect(semaphore.acquire(abort.signal)).rejects.toThrow('gone')
    expect(semaphore.isIdle).toBe(true)
  })
})

describe('a lock by key', () => {
  test('an aborted waiter lets no one in beside the one that works', async () => {
    const lock = new KeyedLock()
    const { gates, work } = gatedWork()
    const first = lock.run('mirror', never, work)
    const abort = new AbortController()
    const aborted = lock.run('mirror', abort.signal, work)
    abort.abort(new Error('gone'))
    await expect(aborted).rejects.toThrow('gone')
    const next = lock.run('mirror', never, work)
    await settle()
    expect(gates).toHaveLength(1)

    gates[0]!.resolve()
    await first
    await settle()
    expect(gates).toHaveLength(2)
    gates[1]!.resolve()
    await next
  })

  test('work that fails gives its turn to the next; other keys wait for nothing', async () => {
    const lock = new KeyedLock()
    const { gates, work } = gatedWork()
    const failing = lock.run('a', never, work)
    const behind = lock.run('a', never, async () => 'fine')
    expect(await lock.run('b', never, async () => 'beside')).toBe('beside')
    gates[0]!.reject(new Error('broken'))
    await expect(failing).rejects.toThrow('broken')
    expect(await behind).toBe('fine')
  })
})

test('who needs more than is left waits, and no one passes them', async () => {
  const semaphore = new Semaphore(10)
  const first = await semaphore.acquire(undefined, 8)
  const order: string[] = []
  const large = semaphore.acquire(undefined, 9).then((held) => (order.push('large'), held))
  const small = semaphore.acquire(undefined, 1).then((held) => (order.push('small'), held))
  await Bun.sleep(0)
  expect(order).toEqual([])
  first[Symbol.dispose]()
  ;(await large)[Symbol.dispose]()
  ;(await small)[Symbol.dispose]()
  expect(order).toEqual(['large', 'small'])
  expect(semaphore.isIdle).toBe(true)
})

test('when the one in front gives up, those behind who fit have their turn', async () => {
  const semaphore = new Semaphore(10)
  using _ = await semaphore.acquire(undefined, 8)
  const leaving = new AbortController()
  const large = semaphore.acquire(leaving.signal, 9).catch(() => 'gone')
  const small = semaphore.acquire(undefined, 1)
  leaving.abort()
  expect(await large).toBe('gone')
  ;(await small)[Symbol.dispose]()
})
