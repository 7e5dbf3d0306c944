import { expect, test } from 'bun:test'
import { s3 } from './target-scene.ts'
import { aService } from './scene.ts'
import { Failure } from '../../src/platform/errors.ts'

const settings = '/settings/targets'

test('a target isn’t removed under a plan, which is named, nor under a backup that hasn’t ended', async () => {
  const { t, ada, path, targetId, service, plan } = await aService()
  await plan()
  const target = `${settings}/${targetId}`
  for (const confirm of ['', '?confirm=1', '?force=1']) {
    const refused = await ada.delete(`${target}${confirm}`)
    expect(refused.status).toBe(409)
    expect(refused.json.detail).toContain(service.name)
  }
  await ada.delete(`${path}/plan`)
  t.jobs.wake = () => {}
  const { json: backup } = await ada.post(path, { targetId })
  expect((await ada.delete(target)).status).toBe(409)
  await ada.post(`/backups/${backup.id}/cancel`, {})
  expect((await ada.delete(target)).status).toBe(200)
})

test.each(['restore', 'prove'])(
  'a target isn’t removed before what was asked for of a backup has ended: %s',
  async (verb) => {
    const { t, ada, targetId, service, backUp } = await aService()
    const { id } = await backUp()
    const target = `${settings}/${targetId}`
    t.jobs.wake = () => {} // none begins
    const asked = await ada.post(`/backups/${id}/${verb}`, { backupFirst: false })
    expect(asked.status).toBe(200)
    const refused = await ada.delete(target)
    expect(refused.status).toBe(409)
    expect(refused.json.detail).toContain(service.name)
    await ada.post(`/backups/${id}/cancel`, {})
    expect((await ada.delete(target)).status).toBe(200)
  },
)

test('a target with backups is only moved to where its repository is', async () => {
  const existing: boolean[] = []
  let failure: Failure | null = null
  const { ada, backUp } = await aService({
    async tryOut(_, { mustExist }) {
      existing.push(mustExist)
      if (failure) throw failure
      return { hostKey: null }
    },
  })
  const { json } = await ada.post(settings, s3)
  const target = `${settings}/${json.id}`
  await ada.put(target, { bucket: 'moved-empty' })
  await backUp({ targetId: json.id })
  await ada.put(target, { accessKey: 'another' })
  await ada.put(target, { bucket: 'moved-full' })
  expect(existing).toEqual([false, false, false, true])
  failure = new Failure('target_missing', 'None.', 'Correct it.')
  const refused = await ada.put(target, { bucket: 'nowhere' })
  expect(refused.json.errors).toMatchObject([{ field: 'endpoint' }])
  expect((await ada.get(target)).json.bucket).toBe('moved-full')
})

test('a target isn’t moved under a backup that hasn’t ended, also one that began while it was tried out', async () => {
  let tries = 0
  let begin = async () => {}
  const { t, ada, path, service } = await aService({
    async tryOut() {
      tries++
      await begin()
      return { hostKey: null }
    },
  })
  const { json } = await ada.post(settings, s3)
  const target = `${settings}/${json.id}`
  t.jobs.wake = () => {} // no job begins
  const { json: first } = await ada.post(path, { targetId: json.id })
  const refused = await ada.put(target, { bucket: 'elsewhere' })
  expect([refused.status, tries]).toEqual([409, 1])
  expect(refused.json.detail).toContain(service.name)
  expect((await ada.put(target, { name: 'another' })).status).toBe(200)
  expect((await ada.put(target, { accessKey: 'another' })).status).toBe(200)
  await ada.post(`/backups/${first.id}/cancel`, {})

  begin = async () => void (await ada.post(path, { targetId: json.id }))
  expect((await ada.put(target, { bucket: 'elsewhere' })).status).toBe(409)
  expect((await ada.get(target)).json.bucket).toBe(s3.bucket)
})

test('a target isn’t moved away from a backup that was made while it was tried out', async () => {
  const existing: boolean[] = []
  let meanwhile = async () => {}
  const { ada, backUp } = await aService({
    async tryOut(_, { mustExist }) {
      existing.push(mustExist)
      await meanwhile()
      return { hostKey: null }
    },
  })
  const { json } = await ada.post(settings, s3)
  const target = `${settings}/${json.id}`
  meanwhile = async () => void (await backUp({ targetId: json.id }))
  expect((await ada.put(target, { bucket: 'elsewhere' })).status).toBe(409)
  expect((await ada.get(target)).json.bucket).toBe(s3.bucket)
  meanwhile = async () => {}
  expect((await ada.put(target, { bucket: 'elsewhere' })).status).toBe(200)
  expect(existing).toEqual([false, false, true])
})

test('two targets that are tried out at once can’t share a repository either', async () => {
  let tries = 0
  const both = Promise.withResolvers<void>()
  const { ada } = await aService({
    async tryOut() {
      if (++tries === 2) both.resolve()
      await both.promise
      return { hostKey: null }
    },
  })
  const names = ['one', 'two']
  const added = await Promise.all(names.map((name) => ada.post(settings, { ...s3, name })))
  expect(added.map(({ status }) => status).toSorted()).toEqual([201, 422])
  expect(added.flatMap(({ json }) => json.errors ?? [])).toMatchObject([{ field: 'endpoint' }])
})
