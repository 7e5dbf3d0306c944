import { expect, spyOn, test } from 'bun:test'
import { openDatabase } from '../../src/db/index.ts'
import { cancelled, Jobs, stopping } from '../../src/jobs/jobs.ts'
import type { GivenUp, Work } from '../../src/jobs/jobs.ts'
import { claimJob, endJob, getJob, hasJob, insertJob, requeueJob } from '../../src/jobs/store.ts'
import type { Slot } from '../../src/jobs/store.ts'
import { journal } from '../../src/platform/journal.ts'

type Db = ReturnType<typeof openDatabase>

/** Jobs that go on until they are ended by name, or are aborted; `begun` has their subjects in order. */
type Options = { slots?: number; db?: Db; isShared?: () => boolean }

function scene({ slots = 1, db = openDatabase(':memory:'), ...options }: Options = {}) {
  const jobs = new Jobs({ db, ...options, slots: { build: slots, service: slots, 'clean-up': 1 } })
  const begun: string[] = []
  const given: [string, GivenUp][] = []
  const goingOn = new Map<string, { work: Work; end: (error?: Error) => void }>()
  const handler = {
    async run(work: Work) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const { subjectId, id } = work.job
      begun.push(subjectId)
      goingOn.set(subjectId, { work, end: (error) => (error ? reject(error) : resolve()) })
      work.signal.addEventListener('abort', () => resolve(), { once: true })
      await promise.finally(() => goingOn.delete(subjectId))
      if (work.signal.reason === stopping) requeueJob(db, id)
      else endJob(db, id)
    },
    giveUp: ({ subjectId }: { subjectId: string }, end: GivenUp) =>
      void given.push([subjectId, end]),
  }
  jobs.handle('deploy', () => handler)
  jobs.handle('start', () => handler)
  const add = (subjectId: string, ownerId: string, slot: Slot | null = 'build') =>
    insertJob(db, { kind: slot === 'service' ? 'start' : 'deploy', subjectId, ownerId, slot })
  const end = async (subjectId: string, error?: Error) => {
    const { work, end } = goingOn.get(subjectId)!
    end(error)
    await jobs.ended(work.job.id)
    await Bun.sleep(0)
  }
  return { db, jobs, begun, given, goingOn, add, end }
}

const turn = () => Bun.sleep(0)

test.each(['build', 'service'] as const)(
  'a hundred jobs of one owner delay another’s one by at most the %s that runs',
  async (slot) => {
    const { jobs, begun, add, end } = scene()
    add('a0', 'ada', slot)
    jobs.wake()
    await turn()
    for (let at = 1; at <= 100; at++) add(`a${at}`, 'ada', slot)
    add('b0', 'bob', slot)
    jobs.wake()
    expect(begun).toEqual(['a0'])
    await end('a0')
    await end('b0')
    expect(begun).toEqual(['a0', 'b0', 'a1'])
  },
)

test('a class of slots holds up no other one, and what needs none runs at once', async () => {
  const { jobs, begun, add, goingOn } = scene()
  add('built', 'ada')
  add('waits', 'ada')
  add('service', 'ada', 'service')
  add('rollback', 'ada', null)
  jobs.wake()
  await turn()
  expect(begun.toSorted()).toEqual(['built', 'rollback', 'service'])
  goingOn.get('built')!.work.releaseSlot()
  await turn()
  expect(begun.at(-1)).toBe('waits')
})

test('a lent slot serves others, not another job of its owner, and comes back in turn', async () => {
  const { jobs, begun, add, end, goingOn } = scene()
  for (const [subject, owner] of [
    ['a0', 'ada'],
    ['a1', 'ada'],
    ['b0', 'bob'],
  ] as const)
    add(subject, owner)
  jobs.wake()
  await turn()
  const { work } = goingOn.get('a0')!
  work.lendSlot()
  await turn()
  expect(begun).toEqual(['a0', 'b0'])
  const order: string[] = []
  const back = work.takeSlot(() => order.push('waits')).then(() => order.push('is back'))
  await turn()
  expect(order).toEqual(['waits'])
  await end('b0')
  await back
  expect(begun).toEqual(['a0', 'b0'])
  await end('a0')
  expect(begun).toEqual(['a0', 'b0', 'a1'])
})

test('the last slot is no one’s who has the others, where there are several owners', async () => {
  let isShared = true
  const { jobs, begun, add, end } = scene({ slots: 3, isShared: () => isShared })
  for (const at of [0, 1, 2, 3]) add(`a${at}`, 'ada', 'service')
  jobs.wake()
  await turn()
  expect(begun).toEqual(['a0', 'a1'])
  add('b0', 'bob', 'service')
  jobs.wake()
  await turn()
  expect(begun).toEqual(['a0', 'a1', 'b0'])
  isShared = false
  await end('b0')
  expect(begun).toEqual(['a0', 'a1', 'b0', 'a2'])
})

test('a job that is cancelled while it waits for its slot ends, and takes none', async () => {
  const { jobs, begun, add, end, goingOn } = scene()
  const { id } = add('a0', 'ada')
  add('b0', 'bob')
  jobs.wake()
  await turn()
  const { work } = goingOn.get('a0')!
  work.lendSlot()
  await turn()
  const back = work.takeSlot().catch((reason) => reason)
  await jobs.cancel([id])
  expect(await back).toBe(cancelled)
  add('c0', 'cid')
  jobs.wake()
  await end('b0')
  expect(begun).toEqual(['a0', 'b0', 'c0'])
})

test('a subject has one job at a time, and the next one begins when that has ended', async () => {
  const { db, jobs, begun, add, end } = scene({ slots: 8 })
  add('one', 'ada')
  add('one', 'bob', null)
  jobs.wake()
  await turn()
  expect(begun).toEqual(['one'])
  await end('one')
  expect(begun).toEqual(['one', 'one'])
  await end('one')
  expect(hasJob(db, 'one')).toBe(false)
})

test('what is not stored is not begun, and what is stored waits until it is woken', async () => {
  const { db, jobs, begun, add } = scene()
  const undone = () =>
    db.transaction(() => {
      add('undone', 'ada')
      throw new Error('rolled back')
    })
  expect(undone).toThrow('rolled back')
  jobs.wake()
  add('stored', 'ada')
  await turn()
  expect(begun).toEqual([])
  jobs.wake()
  await turn()
  expect(begun).toEqual(['stored'])
})

test('a cancel ends what runs and what waits, of which none takes the place of another', async () => {
  const { db, jobs, begun, given, add } = scene()
  const ids = ['one', 'two', 'three'].map((name) => add(name, 'ada').id)
  const other = add('other', 'bob')
  jobs.wake()
  await turn()
  const waiter = jobs.ended(ids[1]!)
  await jobs.cancel(ids, { by: 'root' })
  await waiter
  expect(given).toEqual(['two', 'three'].map((name) => [name, { why: 'cancelled', by: 'root' }]))
  expect(ids.map((id) => getJob(db, id))).toEqual([undefined, undefined, undefined])
  await turn()
  expect(begun).toEqual(['one', 'other'])
  expect(getJob(db, other.id)!.status).toBe('running')
})

test('a stop puts back what runs, which was no attempt, and begins nothing more', async () => {
  const { db, jobs, begun, add } = scene()
  const [one, two] = [add('one', 'ada'), add('two', 'ada')]
  jobs.wake()
  await turn()
  await jobs.stop()
  jobs.wake()
  expect(begun).toEqual(['one'])
  for (const { id } of [one, two])
    expect(getJob(db, id)).toMatchObject({ status: 'waiting', attempt: 0 })
})

test('what ran when Davit died runs once more, and is given up when that ends the same way', async () => {
  const first = scene()
  const { db } = first
  first.add('one', 'ada')
  first.add('two', 'ada')
  first.jobs.wake()
  await turn()

  const second = scene({ db })
  second.jobs.wake()
  await turn()
  expect(second.begun).toEqual(['two']) // nothing runs beside what the dead process may have left
  await second.end('two')
  await second.jobs.recover(['deploy'])
  second.jobs.wake()
  await turn()
  expect(second.goingOn.get('one')!.work.job.attempt).toBe(2)

  const third = scene({ db })
  await third.jobs.recover(['start'])
  expect(hasJob(db, 'one')).toBe(true)
  await third.jobs.recover(['deploy'])
  expect(third.given).toEqual([['one', { why: 'interrupted' }]])
  expect(hasJob(db, 'one')).toBe(false)
})

test('a cancel that Davit’s death came before is kept by the next process', async () => {
  const first = scene()
  const { db } = first
  const { id } = first.add('one', 'ada')
  first.jobs.wake()
  await turn()
  const next = scene({ db })
  await next.jobs.cancel([id])
  expect(next.given).toEqual([])
  await next.jobs.recover(['deploy'])
  expect(next.given).toEqual([['one', { why: 'cancelled' }]])
})

test('a handler that breaks is reported, and its job given up until that is stored', async () => {
  const { db, jobs, given, add, end } = scene()
  using broke = spyOn(journal, 'error').mockImplementation(() => {})
  db.$client.run(
    "CREATE TRIGGER broken BEFORE DELETE ON jobs BEGIN SELECT RAISE(ABORT, 'broken'); END",
  )
  add('one', 'ada')
  jobs.wake()
  await turn()
  const ended = end('one', new Error('a bug'))
  while (given.length === 0) await turn()
  expect(broke.mock.calls[0]!.slice(0, 1)).toEqual(['a job failed unexpectedly'])
  expect(hasJob(db, 'one')).toBe(true)
  db.$client.run('DROP TRIGGER broken')
  await ended
  expect(new Set(given.map(([, { why }]) => why))).toEqual(new Set(['broken']))
  expect(hasJob(db, 'one')).toBe(false)
})

test('what is deleted has its jobs ended, and nothing of it put back', async () => {
  const { jobs, goingOn, add, given } = scene({ slots: 2 })
  for (const name of ['gone', 'waits', 'stays']) add(name, 'ada')
  jobs.wake()
  await turn()
  const { undo } = goingOn.get('gone')!.work
  await jobs.cancelAll({ subjectIds: ['gone', 'stays'] })
  expect(undo.aborted).toBe(true)
  await turn()
  expect([...goingOn.keys()]).toEqual(['waits'])
  expect(given.map(([subject]) => subject)).toEqual(['stays'])
})

test('a job that ends while its handler is loaded is never begun', async () => {
  const { db, jobs, begun, add } = scene()
  const loaded = Promise.withResolvers<void>()
  const run = async () => void begun.push('late')
  jobs.handle('deploy', () => loaded.promise.then(() => ({ run, giveUp: () => {} })))
  const { id } = add('app', 'ada')
  jobs.wake()
  await turn()
  expect(getJob(db, id)?.status).toBe('waiting') // what is queued may be superseded
  endJob(db, id)
  loaded.resolve()
  await jobs.idle()
  expect(begun).toEqual([])
})

test('a job of the last process that is cancelled while its handler is loaded is given up', async () => {
  const { db, jobs, given, add } = scene()
  const loaded = Promise.withResolvers<void>()
  const run = async () => {}
  const giveUp = ({ subjectId }: { subjectId: string }, end: GivenUp) =>
    void given.push([subjectId, end])
  jobs.handle('deploy', () => loaded.promise.then(() => ({ run, giveUp })))
  const { id } = add('app', 'ada')
  claimJob(db, id)
  const recovered = jobs.recover(['deploy'])
  await jobs.cancel([id])
  loaded.resolve()
  await recovered
  expect(given).toEqual([['app', { why: 'cancelled' }]])
  expect(getJob(db, id)).toBeUndefined()
})
