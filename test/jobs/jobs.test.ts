import { expect, spyOn, test } from 'bun:test'
import { claimJob, endJob, getJob, hasJob, insertJob, requestCancel } from '../../src/jobs/store.ts'
import type { End } from '../../src/jobs/task.ts'
import { Failure } from '../../src/platform/errors.ts'
import { journal } from '../../src/platform/journal.ts'
import { scene, turn, words } from './scene.ts'

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

test('what was queued later waits for those of its kind, also with an older id or while they wait', async () => {
  const { db, jobs, begun, goingOn, add, end } = scene()
  const [older, newer] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
  const backup = add('backup', 'ada', 'service').id
  const settings = { id: newer, kind: 'deploy', subjectId: 'one', ownerId: 'ada' } as const
  insertJob(db, { ...settings, after: backup })
  insertJob(db, { ...settings, id: older })
  jobs.wake()
  await turn()
  expect(begun).toEqual(['backup'])
  await end('backup')
  expect(goingOn.get('one')!.work.job.id).toBe(newer)
  await end('one')
  expect(goingOn.get('one')!.work.job.id).toBe(older)
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
  const { db, jobs, begun, ended, published, add } = scene()
  const ids = ['one', 'two', 'three'].map((name) => add(name, 'ada').id)
  const other = add('other', 'bob')
  jobs.wake()
  await turn()
  const waiter = jobs.ended(ids[1]!)
  await jobs.cancel(ids, { by: 'root' })
  await waiter
  const byRoot = { status: 'cancelled', by: 'root' }
  expect(ended.toSorted()).toEqual([
    ['one', byRoot],
    ['three', byRoot],
    ['two', byRoot],
  ] as never)
  expect(published.toSorted()).toEqual(ids.toSorted().map((id) => [id, { status: 'cancelled' }]))
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

test('a stop puts back nothing that had ended by itself', async () => {
  const { db, jobs, published, add } = scene()
  jobs.handle('deploy', () => ({ id }) => ({
    ...words,
    run({ signal }) {
      endJob(db, id) // as a deployment does when it goes live
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      )
    },
    end() {},
    requeue: () => ({ status: 'pending' }),
  }))
  add('app', 'ada')
  jobs.wake()
  await turn()
  await jobs.stop()
  expect(published).toEqual([])
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
  expect(third.ended).toEqual([
    ['one', { status: 'failed', failure: expect.objectContaining({ code: 'interrupted' }) }],
  ])
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
  expect(next.ended).toEqual([])
  await next.jobs.recover(['deploy'])
  expect(next.ended).toEqual([['one', { status: 'cancelled' }]])
})

test.each(['recovered', 'cancelled'] as const)(
  'one that is %s is tidied up before its subject’s next job begins',
  async (how) => {
    const { db, jobs, begun, add } = scene()
    const tidied = Promise.withResolvers<void>()
    const isTidying = Promise.withResolvers<void>()
    const before = add('one', 'ada')
    const next = add('one', 'ada')
    jobs.handle('deploy', () => ({ id }) => ({
      ...words,
      run: async () => void begun.push(id),
      end: () => endJob(db, id),
      async after() {
        if (id !== before.id) return
        isTidying.resolve()
        await tidied.promise
      },
    }))
    if (how === 'recovered') {
      claimJob(db, before.id)
      requestCancel(db, [before.id])
    }
    const over = how === 'recovered' ? jobs.recover(['deploy']) : jobs.cancel([before.id])
    await isTidying.promise
    expect(getJob(db, before.id)).toBeUndefined()
    jobs.wake()
    await turn()
    expect(begun).toEqual([])
    tidied.resolve()
    await over
    if (how === 'recovered') jobs.wake()
    await jobs.ended(next.id)
    expect(begun).toEqual([next.id])
  },
)

test('an end that can’t be stored is reported, and tried until it is', async () => {
  const { db, jobs, ended, published, add, end } = scene()
  using broke = spyOn(journal, 'error').mockImplementation(() => {})
  db.$client.run(
    "CREATE TRIGGER broken BEFORE DELETE ON jobs BEGIN SELECT RAISE(ABORT, 'broken'); END",
  )
  add('one', 'ada')
  jobs.wake()
  await turn()
  const over = end('one')
  while (ended.length < 2) await turn()
  expect(hasJob(db, 'one')).toBe(true)
  db.$client.run('DROP TRIGGER broken')
  await over
  expect(broke.mock.calls.map(([message]) => message)).toEqual([
    'a job failed unexpectedly',
    'the end of a job could not be stored yet', // once, however often it is tried
  ])
  expect(ended[0]![1].status).toBe('done')
  expect(ended.at(-1)![1].status).toBe('failed')
  expect(published).toHaveLength(1)
  expect(hasJob(db, 'one')).toBe(false)
})

test('whoever waits for the end of a job hears of it when a newer one superseded it', async () => {
  const { db, jobs, add } = scene({ slots: 0 })
  const { id } = add('one', 'ada')
  const ended = jobs.ended(id)
  endJob(db, id)
  jobs.wake()
  await ended
})

test('what is deleted has its jobs ended, and nothing of it put back', async () => {
  const { jobs, goingOn, add, ended } = scene({ slots: 2 })
  for (const name of ['gone', 'waits', 'stays']) add(name, 'ada')
  jobs.wake()
  await turn()
  const { undo } = goingOn.get('gone')!.work
  await jobs.cancelAll({ subjectIds: ['gone', 'stays'] })
  expect(undo.aborted).toBe(true)
  await turn()
  expect([...goingOn.keys()]).toEqual(['waits'])
  expect(ended.map(([subject]) => subject).toSorted()).toEqual(['gone', 'stays'])
})

test('a job that ends while its handler is loaded is never begun', async () => {
  const { db, jobs, begun, add } = scene()
  const loaded = Promise.withResolvers<void>()
  const run = async () => void begun.push('late')
  jobs.handle('deploy', () => loaded.promise.then(() => () => ({ ...words, run, end() {} })))
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
  const { db, jobs, add } = scene()
  const ends: End[] = []
  const loaded = Promise.withResolvers<void>()
  const run = async () => {}
  const end = (how: End) => void ends.push(how)
  jobs.handle('deploy', () => loaded.promise.then(() => () => ({ ...words, run, end })))
  const { id } = add('app', 'ada')
  claimJob(db, id)
  const recovered = jobs.recover(['deploy'])
  await jobs.cancel([id])
  loaded.resolve()
  await recovered
  expect(ends).toEqual([{ status: 'cancelled' }])
  expect(getJob(db, id)).toBeUndefined()
})

test('a failure is explained without secrets, and its last line comes before the news', async () => {
  const { db, jobs, published, add } = scene()
  const lines: string[] = []
  const log = {
    mask: { mask: (text: string) => text.replace('sesame', '•••') },
    write: (line: string) => lines.push(line),
    end: () => lines.push(`end, ${published.length} published`),
  } as never
  jobs.handle('deploy', () => () => ({
    ...words,
    log,
    run: () => Promise.reject(new Failure('refused', 'sesame was refused', 'open sesame')),
    end: (end) => ({
      status: end.status,
      line: end.status === 'failed' ? `${end.failure.message}, ${end.failure.hint}` : '',
    }),
    after: () => Promise.reject(new Failure('tidying', 'is reported', 'and changes nothing')),
  }))
  const { id } = add('app', 'ada')
  jobs.wake()
  await jobs.ended(id)
  expect(lines).toEqual(['••• was refused, open •••', 'end, 0 published'])
  expect(published).toEqual([[id, { status: 'failed' }]])
  expect(getJob(db, id)).toBeUndefined()
})

test('what ended by itself before its cancel came, or is unknown, is refused to be cancelled', async () => {
  const { jobs, goingOn, add } = scene()
  const { id } = add('app', 'ada')
  jobs.wake()
  await turn()
  const refusal = () => 'It has ended.'
  goingOn.get('app')!.end()
  await expect(jobs.cancelFor('ada', [id], { refusal })).rejects.toThrow('It has ended.')
  await expect(jobs.cancelFor('ada', [id], { refusal })).rejects.toThrow('It has ended.')
  expect(() => jobs.cancelFor('ada', [], { refusal })).toThrow('It has ended.')
})
