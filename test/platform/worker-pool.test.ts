import { expect, test } from 'bun:test'
import { AppError, Failure } from '../../src/platform/errors.ts'
import { DeadlineError, WorkerPool } from '../../src/platform/worker-pool.ts'
import { until } from '../support/until.ts'

const entry = new URL('../support/odd-worker.ts', import.meta.url).href
const poolOf = ({ size = 1, idle = 60_000 } = {}) => new WorkerPool(entry, { size, idle })
const patient = { deadline: 60_000 }
const hasty = { deadline: 300 }

test('a task that never ends is ended at its deadline, and the next one is done', async () => {
  const pool = poolOf()
  expect(await pool.run('spin', [], hasty).catch((error): any => error)).toBeInstanceOf(
    DeadlineError,
  )
  expect(await pool.run('double', [21], patient)).toBe(42)
})

test('the start of a thread takes nothing of the time that its first task has', async () => {
  const pool = poolOf()
  expect(await pool.run('double', [21], hasty)).toBe(42)
})

test('the loop goes on while a task never ends', async () => {
  const spinning = poolOf().run('spin', [], hasty)
  let beats = 0
  const beat = setInterval(() => beats++, 10)
  await spinning.catch(() => {})
  clearInterval(beat)
  expect(beats).toBeGreaterThan(3)
})

test('nothing runs before it is asked to, and what is idle ends', async () => {
  const pool = poolOf({ idle: 10 })
  expect(pool.threads).toBe(0)
  await pool.run('double', [1], patient)
  expect(pool.threads).toBe(1)
  await until(() => pool.threads === 0)
  expect(await pool.run('double', [2], patient)).toBe(4)
})

test('refusals and failures arrive as what they are, bugs with their stack', async () => {
  const pool = poolOf()
  const thrownBy = (name: string): Promise<any> =>
    pool.run(name, [], patient).catch((error) => error)
  const refusal = await thrownBy('refuse')
  expect(refusal).toBeInstanceOf(AppError)
  expect(refusal).toMatchObject({ code: 'invalid', message: 'This is wrong.' })
  expect(refusal.fields).toEqual([{ field: 'a', message: 'wrong' }])
  const failure = await thrownBy('fail')
  expect(failure).toBeInstanceOf(Failure)
  expect(failure).toMatchObject({ code: 'broken', message: 'It broke.', hint: 'Fix it.' })
  const bug = await thrownBy('overflow')
  expect(bug.message).toContain('call stack')
  expect(bug.cause).toContain('odd-worker.ts')
  expect(await thrownBy('give')).toBeInstanceOf(Error)
  expect(await pool.run('double', [1], patient)).toBe(2)
})

test('what no one waits for anymore ends, whether it waits or runs', async () => {
  const pool = poolOf()
  const gone = new AbortController()
  const running = pool.run('spin', [], { ...patient, signal: gone.signal }).catch(String)
  const waiting = pool.run('spin', [], { ...patient, signal: gone.signal }).catch(String)
  const last = pool.run('double', [2], patient)
  gone.abort(new Error('gone'))
  expect(await running).toBe('Error: gone')
  expect(await waiting).toBe('Error: gone')
  expect(await last).toBe(4)
  expect(pool.run('double', [2], { ...patient, signal: gone.signal })).rejects.toThrow('gone')
})

test('one owner has one thread at most: others are not kept waiting', async () => {
  const pool = poolOf({ size: 2 })
  const gone = new AbortController()
  const ofAda = { ...patient, owner: 'ada', signal: gone.signal }
  const spinning = [1, 2, 3].map(() => pool.run('spin', [], ofAda).catch(() => {}))
  expect(await pool.run('double', [4], { ...patient, owner: 'bob' })).toBe(8)
  gone.abort()
  await Promise.all(spinning)
})
