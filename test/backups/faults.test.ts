import { expect, test } from 'bun:test'
import { Failure } from '../../src/platform/errors.ts'
import { unreachable } from './simulated-restic.ts'
import { aService } from './scene.ts'

type Scene = Awaited<ReturnType<typeof aService>>

/** Begins a backup that stores until it is told to go on, or is cancelled. */
async function held(s: Scene, body: object = {}) {
  const { begun, goOn } = s.restic.heldUp('storeVolumes')
  const { json } = await s.ada.post(s.path, { targetId: s.targetId, ...body })
  await begun
  return { id: json.id as string, goOn, see: () => s.ada.get(`/backups/${json.id}`) }
}

test('a target that accepts data and loses it is no success', async () => {
  const s = await aService()
  s.restic.faults.storeVolumes = async () => ({ id: 'f00', bytes: 9, addedBytes: 9 })
  expect(await s.backUp()).toMatchObject({ status: 'failed', error: { code: 'not_stored' } })
})

for (const hold of ['pause', 'stop'])
  test(`a cancelled backup leaves nothing behind, and what it held runs again (${hold})`, async () => {
    const s = await aService()
    const backup = await held(s, { hold })
    expect(await s.states()).toEqual([hold === 'pause' ? 'paused' : 'exited'])
    expect((await s.ada.post(`/backups/${backup.id}/cancel`)).status).toBe(200)
    expect((await backup.see()).json).toMatchObject({ status: 'cancelled', error: null })
    expect(await s.states()).toEqual(['running'])
    expect(s.restic.backups).toEqual([])
    expect((await s.ada.post(`/backups/${backup.id}/cancel`)).status).toBe(409)
  })

test('what a backup holds is neither started nor stopped by hand meanwhile', async () => {
  const s = await aService()
  const { id } = (await s.ada.get(`/services/${s.service.id}`)).json.containers[0]
  const byHand = async () => {
    const stopped = await s.ada.post(`/containers/${id}/stop`)
    return [stopped.status, (await s.ada.post(`/containers/${id}/restart`)).status]
  }
  const backup = await held(s)
  expect([await byHand(), await s.states()]).toEqual([[409, 409], ['paused']])
  backup.goOn()
  await s.t.jobs.idle()
  expect(await byHand()).toEqual([200, 200])
})

test('a second backup of a service is refused while the first continues', async () => {
  const s = await aService()
  const backup = await held(s)
  expect((await s.ada.post(s.path, { targetId: s.targetId })).status).toBe(409)
  expect((await s.ada.delete(`/backups/${backup.id}`)).status).toBe(409)
  backup.goOn()
  await s.t.jobs.idle()
  expect((await backup.see()).json.status).toBe('succeeded')
})

test('a target isn’t removed under a backup or a plan', async () => {
  const s = await aService()
  const remove = () => s.ada.delete(`/settings/targets/${s.targetId}`)
  const backup = await held(s)
  expect((await remove()).status).toBe(409)
  backup.goOn()
  await s.t.jobs.idle()
  await s.plan()
  expect((await remove()).status).toBe(409)
  await s.ada.delete(`${s.path}/plan`)
  expect((await remove()).status).toBe(200)
  expect((await backup.see()).json.status).toBe('succeeded')
})

test('a service that is deleted meanwhile takes its backup along; earlier ones stay in the list of all', async () => {
  const s = await aService()
  const kept = await s.backUp()
  await s.plan()
  const backup = await held(s)
  expect((await s.ada.delete(`/services/${s.service.id}`)).status).toBe(200)
  expect((await backup.see()).json.status).toBe('cancelled')
  expect(await s.states()).toEqual([])
  const { items } = (await s.ada.get('/backups')).json
  expect(items).toMatchObject([{ id: backup.id }, { id: kept.id, status: 'succeeded' }])
  expect((await s.ada.delete(`/backups/${kept.id}`)).status).toBe(200)
  expect(s.restic.backups).toEqual([])
})

test('a stop of Davit lets what it held run, and queues the backup again', async () => {
  const s = await aService()
  const backup = await held(s, { hold: 'stop' })
  await s.t.jobs.stop()
  expect(await s.states()).toEqual(['running'])
  expect((await backup.see()).json.status).toBe('running')
})

test('a container that can’t be resumed is told, though the data is stored', async () => {
  const s = await aService()
  s.t.faults.unpauseContainer = async () => {
    throw new Error('it is gone wild')
  }
  const backup = await s.backUp()
  expect(backup.error.code).toBe('not_resumed')
  const { items } = (await s.ada.get('/settings/events')).json
  expect(items).toMatchObject([{ kind: 'backup_failed', level: 'failure' }])
})

test('a failing backup is told once, and so is its end', async () => {
  const s = await aService()
  s.restic.faults.storeVolumes = unreachable
  await s.backUp()
  await s.backUp()
  const events = async () => (await s.ada.get('/settings/events')).json.items
  expect(await events()).toMatchObject([{ kind: 'backup_failed', count: 2 }])
  delete s.restic.faults.storeVolumes
  await s.backUp()
  expect(await events()).toMatchObject([
    { kind: 'backup_failed', level: 'resolved' },
    { kind: 'backup_failed', level: 'failure' },
  ])
})

test('a backup that its target doesn’t let go stays in the list', async () => {
  const s = await aService()
  const backup = await s.backUp()
  s.restic.faults.list = unreachable
  expect((await s.ada.delete(`/backups/${backup.id}`)).status).toBe(502)
  expect((await s.ada.get(s.path)).json.items).toHaveLength(1)
})

test('a channel for one project is told of failed backups of its environments', async () => {
  const { t, ada, targetId } = await aService()
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const { json: environment } = await ada.post(`/projects/${project.id}/envs`, { name: 'second' })
  const chat = { kind: 'browser', name: 'site', events: ['backup_failed'], projects: [project.id] }
  expect((await ada.post('/settings/channels', chat)).status).toBe(201)
  await ada.post(`/envs/${environment.id}/backups`, { targetId }) // it has nothing to store
  await t.jobs.idle()
  const [event] = (await ada.get('/settings/events')).json.items
  expect(event).toMatchObject({ projectId: project.id, environmentId: environment.id })
  expect(event.deliveries).toMatchObject([{ channel: 'site' }])
})

test('no secret that a tool quotes is told as the reason', async () => {
  const value = 'hunter2-and-more'
  const { t, ada, targetId } = await aService({
    async openRestic() {
      throw new Failure('dump_failed', `mongodb://root:${value}@db refuses it.`, 'Look.')
    },
  })
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const { json: environment } = await ada.post(`/projects/${project.id}/envs`, { name: 'second' })
  const envPath = `/envs/${environment.id}`
  await ada.post(`${envPath}/variables`, { key: 'PASSWORD', value, secret: true })
  const { json } = await ada.post(`${envPath}/backups`, { targetId })
  await t.jobs.idle()
  const seen = await Promise.all(
    [`/backups/${json.id}`, '/settings/events', `/backups/${json.id}/logs`].map((path) =>
      ada.get(path),
    ),
  )
  expect(seen[0]!.json.error.code).toBe('dump_failed')
  for (const { text } of seen) {
    expect(text).toContain('mongodb://root:')
    expect(text).not.toContain(value)
  }
})
