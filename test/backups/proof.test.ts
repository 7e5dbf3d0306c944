import { expect, test } from 'bun:test'
import { PassThrough, Readable } from 'node:stream'
import type { Docker } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { unlessAborted } from '../../src/platform/pause.ts'
import { until } from '../support/until.ts'
import { setBackup } from '../../src/backups/store.ts'
import { aService, withVolume } from './scene.ts'
import { SimulatedRestic, unreachable } from './simulated-restic.ts'

test('volumes are restored beside the real ones, and their bytes compared', async () => {
  const scene = await aService()
  const { restic, backUp, prove } = scene
  const { id, proven } = await backUp()
  expect(proven).toBeNull()
  expect(await prove(id)).toMatchObject({
    proving: false,
    proven: { error: null, rows: null },
  })

  restic.faults.measureVolumes = async () => 999
  const { proven: failed } = await prove(id)
  expect(failed.error).toBeString()
  const events = await scene.ada.get('/settings/events')
  const { kind, level, text, serviceId } = events.json.items[0]
  const { id: subjectId } = scene.service
  expect({ kind, level, serviceId }).toEqual({
    ...{ kind: 'backup_unproven', level: 'failure', serviceId: subjectId },
  })
  expect(text).toContain('999')
  expect(text).not.toContain('undefined')

  delete restic.faults.measureVolumes
  await prove(id)
  const { json } = await scene.ada.get('/settings/events')
  expect(json.items[0]).toMatchObject({ kind: 'backup_unproven', level: 'resolved' })
})

test('one whose description is gone, or is another’s, isn’t proven: a new server wouldn’t find it', async () => {
  const { restic, backUp, prove } = await aService()
  const [first, second] = [await backUp(), await backUp()]
  const [[ofFirst], [ofSecond, theirs]] = [...restic.descriptions] as never as [
    [string, Buffer],
    [string, Buffer],
  ]
  restic.descriptions.set(ofFirst, theirs)
  expect((await prove(first.id)).proven.error).toContain('backup.json')
  expect((await prove(second.id)).proven.error).toBeNull()

  restic.snapshots.splice(
    restic.snapshots.findIndex(({ id }) => id === ofSecond),
    1,
  )
  expect((await prove(second.id)).proven.error).toBeString()
})

test('the server for a test starts while the backup is looked for, and is removed when that is gone', async () => {
  const { ada, t, restic, service, backUp, prove } = await aService()
  const { id } = await backUp()
  const compose = withVolume.replace('busybox', 'postgres')
  t.engine.addImage({ tags: ['postgres:latest'], command: ['sleep', '999'] })
  await ada.put(`/services/${service.id}`, { compose })
  await t.jobs.idle()
  const server = { component: 'one', engine: 'postgresql', version: '17' } as const
  setBackup(t.db, id, { contents: [{ ...server, databases: [] }] })
  const runPiped: Docker['runPiped'] = ({ signal }) =>
    unlessAborted(new Promise<never>(() => {}), signal!) // its tool finds it not ready
  Object.assign(t.deps.docker, { runPiped })
  const servers = () =>
    [...t.engine.containers.values()].filter(({ name }) => name.startsWith('davit-proof-'))
  restic.faults.findBy = async () => {
    await until(() => servers().some(({ state }) => state === 'running'))
    throw new Failure('backup_missing', 'It is gone.', 'Choose another.')
  }
  const found = await prove(id)
  expect(found.proven.error).toContain('It is gone.')
  expect(servers()).toEqual([])
})

test('a backup that is gone is found out, also when it couldn’t be tested anyway', async () => {
  const { t, restic, backUp, prove } = await aService()
  const { id } = await backUp()
  const gone = { component: 'gone', engine: 'postgresql', version: '17' } as const
  setBackup(t.db, id, { contents: [{ ...gone, databases: [] }] })
  expect(await prove(id)).toMatchObject({ proven: null, untested: expect.any(String) })
  restic.faults.findBy = async () => {
    await t.docker.listContainers({})
    throw new Failure('backup_missing', 'It is gone.', 'Choose another.')
  }
  expect((await prove(id)).proven.error).toContain('It is gone.')
})

test('only the newest proven backup is kept beyond the plan', async () => {
  const { restic, backUp, plan, prove } = await aService()
  await plan({ keepLast: 1, prove: 'never' })
  const first = await backUp()
  await prove(first.id)
  const second = await backUp()
  const third = await backUp()
  expect(restic.backups).toEqual([`backup=${first.id}`, `backup=${third.id}`])
  expect(second.proven).toBeNull()
  await prove(third.id)
  const last = await backUp()
  expect(restic.backups).toEqual([`backup=${third.id}`, `backup=${last.id}`])
})

test('a proven backup that someone removed there isn’t the one that is kept', async () => {
  const { restic, backUp, plan, prove } = await aService()
  await plan({ keepLast: 1, prove: 'never' })
  const first = await backUp()
  await prove(first.id)
  const second = await backUp()
  await prove(second.id)
  const theirs = restic.snapshots.filter(({ tags }) => tags.includes(`backup=${second.id}`))
  for (const one of theirs) restic.snapshots.splice(restic.snapshots.indexOf(one), 1)
  const last = await backUp()
  expect(restic.backups).toEqual([`backup=${first.id}`, `backup=${last.id}`])
})

test('a plan has each backup proven, or one a week', async () => {
  const scene = await aService()
  const { backUp, plan, ada } = scene
  const isProven = async ({ id }: { id: string }) =>
    (await ada.get(`/backups/${id}`)).json.proven !== null
  await plan({ prove: 'each' })
  expect(await isProven(await backUp())).toBe(true)
  expect(await isProven(await backUp())).toBe(true)
  await plan({ prove: 'weekly' })
  expect(await isProven(await backUp())).toBe(false)
})

test.each([
  ['a week before, less what that backup took longer', -7 * 24 * 60 + 5, true],
  ['six days before', -6 * 24 * 60, false],
  ['by a clock that was put back since', 365 * 24 * 60, true],
])('whether a weekly proof is due after one: %s', async (_, minutes, isDue) => {
  const scene = await aService()
  const { backUp, plan, ada, db } = scene
  await plan({ prove: 'weekly' })
  const { id } = await backUp()
  setBackup(db, id, { provenAt: new Date(Date.now() + minutes * 60_000) })
  const last = await backUp()
  expect((await ada.get(`/backups/${last.id}`)).json.proven !== null).toBe(isDue)
})

test('a proof that is due is stored with the end of its backup, so that no kill between them loses it', async () => {
  const usual = new SimulatedRestic()
  const seen: [status: string, isProving: boolean][] = []
  const scene = await aService({
    openRestic: async (...of) => ({
      ...(await usual.open(...of)),
      async [Symbol.asyncDispose]() {
        const { json } = await scene.ada.get(scene.path)
        seen.push(
          json.items.map((one: { status: string; proving: boolean }) => [
            one.status,
            one.proving,
          ])[0]!,
        )
      },
    }),
  })
  await scene.plan({ prove: 'each' })
  await scene.backUp()
  expect(seen[0]).toEqual(['succeeded', true])
})

test('a proof can be cancelled, which says nothing of the backup', async () => {
  const scene = await aService()
  const { restic, backUp, ada, t } = scene
  const { id } = await backUp()
  const began = restic.stall('measureVolumes')
  expect((await ada.post(`/backups/${id}/prove`, {})).json.proving).toBe(true)
  await began
  expect((await ada.post(`/backups/${id}/prove`, {})).status).toBe(409)
  const refused = await ada.delete(`/backups/${id}`)
  expect(refused.json).toMatchObject({ status: 409, detail: expect.stringContaining('proven') })
  await ada.post(`/backups/${id}/cancel`, {})
  await t.jobs.idle()
  expect((await ada.get(`/backups/${id}`)).json).toMatchObject({ proving: false, proven: null })
})

test('a proof that couldn’t be made leaves what is known of the backup, and its protection', async () => {
  const { restic, backUp, plan, ada, prove } = await aService()
  await plan({ keepLast: 1, prove: 'never' })
  const first = await backUp()
  const { proven } = await prove(first.id)
  restic.faults.measureVolumes = unreachable
  const found = await prove(first.id)
  expect(found).toMatchObject({ proven, untested: expect.stringContaining('Try again.') })
  const told = async () => (await ada.get('/settings/events')).json.items
  const [{ title, ...event }, ...others] = await told()
  expect([event, others]).toMatchObject([{ kind: 'backup_unproven', level: 'failure' }, []])
  for (const text of [title, (await ada.page(`/backups/${first.id}`)).text]) {
    expect(text).toMatch(/couldn’t be tested/i)
    expect(text).not.toContain('Can’t be restored')
  }
  await backUp()
  const last = await backUp()
  expect(restic.backups).toEqual([`backup=${first.id}`, `backup=${last.id}`])

  delete restic.faults.measureVolumes
  expect((await prove(last.id)).untested).toBeNull()
  expect(await told()).toMatchObject([{ level: 'resolved' }, { level: 'failure' }])
})

/** Has these lines said of the databases of a backup. */
async function withDatabases(lines: object[]) {
  const scene = await aService()
  const { restic, t } = scene
  restic.faults.measureVolumes = async ({ databases, snapshot, signal }) => {
    await databases(Readable.from([Buffer.from('of them'), Buffer.from('all')]), signal)
    return restic.usual.measureVolumes({ databases, snapshot, signal })
  }
  const runPiped: Docker['runPiped'] = async ({ stdin, stdout, signal }) => {
    await stdin!(new PassThrough().resume(), signal!, 'one')
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const chunks = Array.from({ length: Math.ceil(bytes.length / 999) }, (_, at) =>
      bytes.subarray(at * 999, (at + 1) * 999),
    )
    await stdout!(Readable.from(chunks), signal!)
    return { exitCode: 0, oomKilled: false, stderr: '' }
  }
  Object.assign(t.deps.docker, { runPiped })
  const { id } = await scene.backUp()
  return { ...scene, id }
}

const database = (at: number) => ({
  ...{ file: `data/${'long'.repeat(50)}${at}.db`, tables: 1, rows: 2, wrong: null },
})

test('however many SQLite databases there are, each is opened', async () => {
  const many = Array.from({ length: 6000 }, (_, at) => database(at))
  const tooSlow = { ...database(6000), tables: null, rows: 0 }
  const sound = await withDatabases([...many, tooSlow])
  const { proven, untested } = await sound.prove(sound.id)
  expect({ ...proven, untested }).toMatchObject({ error: null, rows: 12_000, untested: null })
  const damaged = await withDatabases([...many, { ...tooSlow, file: 'data/bad.db', wrong: 'cut' }])
  expect((await damaged.prove(damaged.id)).proven.error).toContain('data/bad.db')
})

test('without the image that opens SQLite databases the rest of a proof stands', async () => {
  const scene = await withDatabases([database(0)])
  scene.t.faults.pullImage = async function* () {
    throw new Failure('registry_unreachable', 'It can’t be reached.', 'Check it.')
  }
  const { proven, untested } = await scene.prove(scene.id)
  expect({ ...proven, untested }).toMatchObject({ error: null, rows: null, untested: null })
  const log = await scene.ada.get(`/backups/${scene.id}/logs`)
  expect(log.text).toContain('It can’t be reached.')
})

test('a backup that failed can’t be proven', async () => {
  const scene = await aService()
  scene.restic.faults.storeVolumes = async () => {
    throw new Error('away')
  }
  const { id } = await scene.backUp()
  expect((await scene.prove(id)).answer).toBe(409)
})

test('a plan removes no backup while it is proven', async () => {
  const scene = await aService()
  const { restic, backUp, plan, ada, t } = scene
  await plan({ keepLast: 1, prove: 'never' })
  const { id } = await backUp()
  const { begun, goOn } = restic.heldUp('measureVolumes')
  await ada.post(`/backups/${id}/prove`, {})
  await begun
  const { json } = await ada.post(scene.path, {})
  await until(() => restic.backups.length === 2)
  goOn()
  await t.jobs.idle()
  expect(restic.backups).toEqual([`backup=${id}`, `backup=${json.id}`])
  expect((await ada.get(`/backups/${id}`)).json.proven.error).toBeNull()
})
