import { expect, test } from 'bun:test'
import { setBackup } from '../../src/backups/store.ts'
import { firstServer } from '../../src/platform/root.ts'
import { pinnedTo } from '../../src/runtime/pins.ts'
import { updateServer } from '../../src/servers/store.ts'
import { getService } from '../../src/services/store.ts'
import { observe } from '../../src/services/observe.ts'
import { definitionOf } from '../../src/services/stored-definition.ts'
import { idle, leftOf, made, settled } from '../services/instances.ts'
import { comparison, readDocument } from '../support/openapi.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { restoring, workOf } from './restoring.ts'
import { unreachable } from './simulated-restic.ts'
import { aService, withVolume } from './scene.ts'

type Scene = Awaited<ReturnType<typeof aService>>

const servicesOf = async ({ ada }: Scene) =>
  (await ada.get('/services')).json.instances.map(({ name }: { name: string }) => name)

const volumesOf = async ({ t }: Scene) =>
  (await t.docker.listVolumes()).map(({ name }) => name).sort()

test('a backup is restored into a new service, beside the one that it is of', async () => {
  const scene = await aService()
  const { backUp, ada, restic, service, states, restoreNew } = scene
  const { id, files } = await backUp()
  const { json: preview } = await ada.get(`/backups/${id}/restore`)
  expect(preview).toEqual({
    ...{ databases: [], volumes: ['data'], same: { id: service.id, name: 'thing' } },
    new: {
      name: 'thing-2',
      template: 'compose',
      title: 'compose',
      version: '',
      newPasswords: false,
      unmounted: [],
    },
    environments: [],
    servers: [{ id: firstServer, name: 'this server' }],
  })
  const done = await restoreNew(id, { name: 'copy' })
  expect(done).toMatchObject({
    ...{ answer: 201, created: `/services/${done.into?.id}` },
    ...{ status: 'succeeded', error: null, before: null },
    into: { kind: 'service', name: 'copy', created: true },
  })
  expect(restic.restored).toEqual([files[0].snapshot])
  expect(await servicesOf(scene)).toEqual(['copy', 'thing'])
  const { json: copy } = await ada.get(`/services/${done.into.id}`)
  expect([copy.status, copy.deleting]).toEqual(['running', false])
  expect(await states()).toEqual(['running'])
  expect(await volumesOf(scene)).toEqual([`davit-${service.id}-data`, `davit-${done.into.id}-data`])
})

test('a service that is created with a backup is answered as the API document says, and a form goes on to the backup', async () => {
  const { backUp, ada, t } = await aService()
  const path = `/backups/${(await backUp()).id}`
  const { answerErrors } = comparison(await readDocument(ada))
  const { status, json: body } = await ada.post(`${path}/restore`, { into: 'new' })
  const answer = { status, type: 'application/json', body }
  expect(answerErrors('POST /backups/:id/restore', answer)).toEqual([])
  await t.jobs.idle()
  const form = await ada.form(`${path}/restore`, { into: 'new', name: 'another' })
  expect([form.status, form.headers.get('Location')]).toEqual([303, path])
  await t.jobs.idle()
})

test('the backup of a deleted service is found and restored into a new one', async () => {
  const { backUp, ada, t, service, restoreNew } = await aService()
  const { id } = await backUp()
  await ada.delete(`/services/${service.id}?volumes=true`)
  await t.jobs.idle()
  expect((await ada.get('/backups')).json.items).toMatchObject([{ id, subject: { name: 'thing' } }])
  expect((await ada.post(`/backups/${id}/restore`, {})).status).toBe(409)
  expect((await ada.get(`/backups/${id}/restore`)).json.same).toBeNull()
  expect(await restoreNew(id)).toMatchObject({
    status: 'succeeded',
    into: { name: 'thing' },
  })
  const eve = t.logIn('eve@example.com')
  expect((await eve.post(`/backups/${id}/restore`, { into: 'new' })).status).toBe(404)
})

/** A service that was updated to these files, one after the other, and a backup of it. */
async function anUpdated(...files: string[]) {
  const scene = await aService()
  const { ada, t, service, backUp } = scene
  for (const compose of files) {
    const { status, text } = await ada.put(`/services/${service.id}`, { compose })
    if (status !== 200) throw new Error(text)
    await settled(t, ada, service)
  }
  return { ...scene, backup: await backUp() }
}

test.each([
  [
    'has renamed',
    withVolume.replace('data:/data', 'store:/data').replace('data:', 'store:'),
    ['store'],
  ],
  ['doesn’t mount any more', `services: { one: { ${idle} } }`, []],
])(
  'a volume that an update %s comes back with a new service, which the preview says it doesn’t mount',
  async (_, compose, mounted) => {
    const { ada, t, db, restic, backup, restoreNew } = await anUpdated(compose)
    const all = ['data', ...mounted]
    expect(backup.files).toMatchObject([{ volumes: all }])
    const { json: preview } = await ada.get(`/backups/${backup.id}/restore`)
    expect(preview).toMatchObject({ volumes: all, new: { unmounted: ['data'] } })
    let filled: string[] = []
    restic.faults.readVolumes = async (options) => {
      filled = options.volumes.map(({ volume }) => volume)
      await restic.usual.readVolumes(options)
    }
    const { status, error, into } = await restoreNew(backup.id)
    expect([status, error]).toEqual(['succeeded', null])
    const names = all.map((name) => `davit-${into.id}-${name}`)
    expect(filled).toEqual(names)
    expect((await leftOf(t, into)).volumes.toSorted()).toEqual(names)
    expect(pinnedTo(db, into.id)).toBe(firstServer)
    await ada.delete(`/services/${into.id}?volumes=true`)
    await t.jobs.idle()
    expect((await leftOf(t, into)).volumes).toEqual([])
  },
)

test('a volume that is mounted, as the file or the image says so, isn’t said to be left', async () => {
  const anonymous = withVolume.replace('["data:/data"]', '["data:/data", /cache]')
  const { ada, backup, db } = await anUpdated(anonymous)
  const [file] = backup.files
  expect(file.volumes).toEqual(['data', 'one-cache'])
  const ofImage = ['one-state-0a1b2c3d', 'two-state-0a1b2c3d']
  setBackup(db, backup.id, { files: [{ ...file, volumes: [...file.volumes, ...ofImage] }] })
  const { json } = await ada.get(`/backups/${backup.id}/restore`)
  expect(json.new.unmounted).toEqual(['two-state-0a1b2c3d'])
})

test('a directory beside the file isn’t said to be left, whatever its volume is called', async () => {
  const fileOf = (...mounts: string[]) =>
    `# slogan: x\nservices: { one: { ${idle}, volumes: ${JSON.stringify(mounts)} } }`
  const [first, second] = ['./data/db:/x', './data-db:/y'] as const
  const { ada, backup } = await anUpdated(fileOf(first), fileOf(first, second), fileOf(second))
  const own = expect.stringMatching(/^data-db-[0-9a-f]{8}$/)
  expect(backup.files).toMatchObject([{ volumes: ['data', 'data-db', own] }])
  const { json } = await ada.get(`/backups/${backup.id}/restore`)
  expect(json.new.unmounted).toEqual(['data', 'data-db'])
})

test('nothing of the new service is left when it isn’t restored, whatever the cause', async () => {
  const scene = await aService()
  const { restic, backUp, ada, t, service, restoreNew } = scene
  const { id } = await backUp()
  const only = [`davit-${service.id}-data`]
  restic.faults.readVolumes = unreachable
  expect((await restoreNew(id)).status).toBe('failed')
  expect([await servicesOf(scene), await volumesOf(scene)]).toEqual([['thing'], only])

  const began = restic.stall('readVolumes')
  await ada.post(`/backups/${id}/restore`, { into: 'new' })
  await began
  expect((await ada.post(`/backups/${id}/restore`, { into: 'new' })).status).toBe(409)
  await ada.post(`/backups/${id}/cancel`, {})
  await t.jobs.idle()
  expect((await ada.get(`/backups/${id}`)).json.restore.status).toBe('cancelled')
  expect([await servicesOf(scene), await volumesOf(scene)]).toEqual([['thing'], only])

  t.faults.startContainer = async () => {
    throw new Error('no room')
  }
  const { status, error } = await restoreNew(id)
  expect([status, error]).toEqual(['failed', expect.stringContaining('didn’t start')])
  expect([await servicesOf(scene), await volumesOf(scene)]).toEqual([['thing'], only])
})

test('a restore that Davit’s end interrupted while the new service was stopped for its volumes goes on', async () => {
  const { restic, backUp, ada, t } = await aService()
  const { id } = await backUp()
  const began = restic.stall('readVolumes')
  const { into } = (await ada.post(`/backups/${id}/restore`, { into: 'new' })).json.restore
  await began
  await t.jobs.stop()
  const { signal } = new AbortController()
  await observe(t.deps, into.id, { orphans: false, signal }) // as at Davit’s start
  delete restic.faults.readVolumes
  const { job, task } = restoring(t, id)
  await task.run(workOf(job))
  await task.end({ status: 'done' }, signal)
  expect((await ada.get(`/backups/${id}`)).json.restore).toMatchObject({ status: 'succeeded' })
  const { status } = (await ada.get(`/services/${into.id}`)).json
  expect([status, restic.restored.length]).toEqual(['running', 1])
})

test('the new service can be deleted while it is restored', async () => {
  const scene = await aService()
  const { restic, backUp, ada, t, service } = scene
  const { id } = await backUp()
  const began = restic.stall('readVolumes')
  const { json } = await ada.post(`/backups/${id}/restore`, { into: 'new' })
  await began
  expect((await ada.delete(`/services/${json.restore.into.id}?volumes=true`)).status).toBe(200)
  await t.jobs.idle()
  expect(await servicesOf(scene)).toEqual(['thing'])
  expect(await volumesOf(scene)).toEqual([`davit-${service.id}-data`])
})

test('what can’t be created is refused, with its field', async () => {
  const scene = await aService()
  const { backUp, ada } = scene
  const { id } = await backUp()
  for (const [body, field] of [
    [{ name: 'x'.repeat(61) }, 'name'],
    [{ into: 'same', name: 'other' }, 'name'],
    [{ into: 'same', server: 'server2' }, 'server'],
    [{ server: 'server2' }, 'server'],
    [{ into: 'elsewhere' }, 'into'],
    [{ environmentId: crypto.randomUUID() }, 'environmentId'],
    [{ into: 'same', environmentId: crypto.randomUUID() }, 'environmentId'],
    [{ database: 'other' }, 'database'],
  ] as const) {
    const { status, json } = await ada.post(`/backups/${id}/restore`, { into: 'new', ...body })
    expect([status, json.errors?.[0].field]).toEqual([422, field])
  }
  const taken = await ada.post(`/backups/${id}/restore`, { into: 'new', name: 'thing' })
  expect([taken.status, taken.json.errors[0].field]).toEqual([409, 'name'])
  expect(await servicesOf(scene)).toEqual(['thing'])
})

test('the only server may be named for the new service, as the preview names it', async () => {
  const { backUp, ada, restoreNew } = await aService()
  const { id } = await backUp()
  const [only] = (await ada.get(`/backups/${id}/restore`)).json.servers
  for (const server of [only.id, only.name]) {
    const { status, into, errors } = await restoreNew(id, { server })
    expect([errors, status, into?.created]).toEqual([undefined, 'succeeded', true])
  }
})

test('a server that may not run the new service is refused at the field that names it', async () => {
  const { backUp, ada, db } = await aService()
  const { id } = await backUp()
  storeServers(db, [{}, {}])
  updateServer(db, serverId(2), { roles: ['edge'] })
  const body = { into: 'new', server: 'server2' }
  const { status, json } = await ada.post(`/backups/${id}/restore`, body)
  expect([status, json.errors?.[0].field]).toEqual([422, 'server'])
})

test('values stay, as files of volumes may have them', async () => {
  const { ada, t, restic, targetId, restoreNew } = await aService()
  const compose = withVolume.replace(
    'services:\n  one: {',
    'x-davit: { name: Keyed, version: latest, variables: { KEY: { generate: password, secret: true }, LEVEL: { default: low } } }\nservices:\n  one: { environment: { KEY: "${KEY}", LEVEL: "${LEVEL}" },',
  )
  const service = await made(t, ada, compose, { name: 'keyed', LEVEL: 'high' })
  const { json } = await ada.post(`/services/${service.id}/backups`, { targetId })
  await t.jobs.idle()
  const valuesOf = async (id: string) => (await definitionOf(t.deps, getService(t.db, id)!)).values
  const before = await valuesOf(service.id)
  await ada.delete(`/services/${service.id}?volumes=true`)
  const { into } = await restoreNew(json.id)
  expect(restic.restored).toHaveLength(1)
  expect(await valuesOf(into.id)).toEqual(before)
  expect(before.get('LEVEL')).toBe('high')
})
