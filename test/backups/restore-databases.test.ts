import { expect, test } from 'bun:test'
import { Readable } from 'node:stream'
import type { End } from '../../src/jobs/task.ts'
import { unlessAborted } from '../../src/platform/pause.ts'
import { choicesOf } from '../../src/backups/restore/choices.ts'
import { workOf } from './restoring.ts'
import { away, unreachable } from './simulated-restic.ts'
import { aDatabase, interrupted } from './simulated-tools.ts'

type Scene = Awaited<ReturnType<typeof aDatabase>>

async function restore({ ada, t, id, restoreOf }: Scene) {
  const { status, text } = await ada.post(`/backups/${id}/restore`, { backupFirst: false })
  if (status !== 200) throw new Error(text)
  await t.jobs.idle()
  return restoreOf().status
}

/** What the target has in place of what was stored. */
const harms: [string, (scene: Scene) => Buffer][] = [
  ['less', ({ dump }) => dump.subarray(0, 5)],
  ['other', () => Buffer.from('DROP DATABASE app;')],
]

/** Lets the target have that in place of what was stored. */
function harm({ restic, dump }: Scene, bytes: Buffer) {
  restic.faults.read = async ({ to, signal }) => {
    await to(Readable.from([bytes]), signal)
    if (bytes.length < dump.length) throw away()
  }
}

const erasing = ['mysql', 'mongodb'] as const
const beside = ['postgresql', 'redis'] as const

for (const engine of erasing)
  test.each(harms)(
    `a load of ${engine} removes the old data first, so it doesn’t begin while the target has %s data`,
    async (_, bytes) => {
      const scene = await aDatabase(engine)
      harm(scene, bytes(scene))
      expect(await restore(scene)).toBe('failed')
      expect(scene.runs).toEqual([])
    },
  )

for (const engine of beside)
  test.each(harms)(
    `a load of ${engine} is beside the old data, so it begins at once, and is undone when the target has %s data`,
    async (_, bytes) => {
      const scene = await aDatabase(engine)
      harm(scene, bytes(scene))
      expect(await restore(scene)).toBe('failed')
      expect(scene.runs).toEqual(['load', 'undo'])
    },
  )

test('files that would replace what is loaded, as their volume has the data of a database now, are refused before', async () => {
  const scene = await aDatabase('redis', ['one'], 'data')
  expect(await restore(scene)).toBe('failed')
  expect([scene.runs, scene.restic.restored]).toEqual([[], []])
  // alone, the database is loaded
  const { ada, t, id, restoreOf } = scene
  await ada.post(`/backups/${id}/restore`, { database: 'app', backupFirst: false })
  await t.jobs.idle()
  expect([restoreOf().status, scene.runs]).toEqual(['succeeded', ['load']])
})

test('files of another volume of a database are restored beside its dump', async () => {
  const scene = await aDatabase('redis', ['one'], 'more')
  expect(await restore(scene)).toBe('succeeded')
  expect([scene.runs, scene.restic.restored.length]).toEqual([['load'], 1])
})

test.each([...erasing, ...beside])('a whole dump of %s is loaded', async (engine) => {
  const scene = await aDatabase(engine)
  expect(await restore(scene)).toBe('succeeded')
  expect(scene.runs).toEqual(['load'])
})

test.each([
  ...erasing.map((engine) => [engine, 'says', expect.any(String)] as const),
  ...beside.map((engine) => [engine, 'has nothing to say', null] as const),
])('a restore that is cancelled while it loads %s %s', async (engine, _, error) => {
  const { restic, ada, t, id, runs, restoreOf } = await aDatabase(engine)
  const { read } = restic.faults
  const loading = Promise.withResolvers<void>()
  restic.faults.read = (options) => {
    if (!runs.includes('load')) return read!(options)
    loading.resolve()
    return unlessAborted(new Promise<never>(() => {}), options.signal)
  }
  await ada.post(`/backups/${id}/restore`, { backupFirst: false })
  await loading.promise
  await ada.post(`/backups/${id}/cancel`)
  await t.jobs.idle()
  expect(restoreOf()).toMatchObject({ status: 'cancelled', error })
})

test.each([
  ['after another one was replaced', ['one', 'two'], 'one', 'two'],
  ['while it was replaced itself', ['one'], 'one', null],
])('a restore whose load fails %s says so', async (_, components, named, unnamed) => {
  const scene = await aDatabase(unnamed ? 'redis' : 'mysql', components)
  const { restic, runs, restoreOf } = scene
  const { read } = restic.faults
  restic.faults.read = (options) => {
    if (runs.length === components.length) throw away()
    return read!(options)
  }
  expect(await restore(scene)).toBe('failed')
  expect(restoreOf().error).toContain(`the databases of ${named}`)
  if (unnamed) expect(restoreOf().error).not.toContain(`the databases of ${unnamed}`)
  expect(restoreOf().error).toContain(away().message)
})

const { signal } = new AbortController()

test.each(beside)(
  'a load of %s that Davit’s end may have ended is undone before the restore begins again',
  async (engine) => {
    const { restic, runs, job, task } = await interrupted(engine)
    restic.faults.list = async () => {
      expect(runs).toEqual(['undo'])
      throw away()
    }
    expect(task.run(workOf(job))).rejects.toMatchObject({ code: 'target_away' })
    await task.end({ status: 'failed', failure: away() }, signal)
    expect(runs).toEqual(['undo'])
  },
)

const ends = [{ status: 'cancelled' }, { status: 'failed', failure: away() }] satisfies End[]

for (const engine of beside)
  test.each(ends.map((end) => [end.status, end] as const))(
    `it is undone, too, when a restore of ${engine} ends before it began again: %s`,
    async (_, end) => {
      const { runs, task, restoreOf } = await interrupted(engine)
      await task.end(end, signal)
      expect([runs, restoreOf().status]).toEqual([['undo'], end.status])
    },
  )

test('a restore that wasn’t begun before ends with nothing to undo', async () => {
  const scene = await aDatabase('redis')
  scene.restic.faults.list = unreachable
  expect(await restore(scene)).toBe('failed')
  expect(scene.runs).toEqual([])
})

test('what couldn’t be undone doesn’t keep a restore from its end', async () => {
  const { t, task, restoreOf } = await interrupted('redis')
  Object.assign(t.deps.docker, { execPiped: () => Promise.reject(new Error('It broke.')) })
  await task.end({ status: 'cancelled' }, signal)
  expect(restoreOf().status).toBe('cancelled')
})

test('where several servers have a database of one name, it is chosen with its server’s name only', async () => {
  const { ada, t, id, reads, restoreOf } = await aDatabase('postgresql', ['one', 'two'])
  const path = `/backups/${id}/restore`
  const databases = ['one/app', 'two/app']
  expect((await ada.get(path)).json.databases).toEqual(databases)
  const page = (await ada.page(`/backups/${id}`)).text
  for (const name of databases) expect(page).toContain(`<option value="${name}"`)
  for (const into of ['same', 'new']) {
    const { status, json } = await ada.post(path, { into, database: 'app' })
    expect([status, json.errors[0].field]).toEqual([422, 'database'])
  }
  await ada.post(path, { database: 'two/app', backupFirst: false })
  await t.jobs.idle()
  expect(restoreOf()).toMatchObject({ status: 'succeeded', database: 'two/app' })
  expect(reads).toEqual(['two/app'])
})

test('no database is chosen by what chooses another one', () => {
  const of = (component: string, ...names: string[]) => ({
    ...{ component, engine: 'postgresql', version: '17' },
    databases: names.map((name) => ({ name, file: '', tables: [] })),
  })
  const contents = [of('one', 'app', 'shop'), of('two', 'app', 'one/app')]
  const choices = choicesOf({ contents }).map(({ choice }) => choice)
  expect(choices).toEqual(['one/app', 'shop', 'two/app', 'two/one/app'])
})
