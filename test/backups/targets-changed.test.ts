import { describe, expect, test } from 'bun:test'
import { getTarget, openTarget } from '../../src/backups/targets/store.ts'
import { Failure } from '../../src/platform/errors.ts'
import { asToken } from '../accounts/visitor.ts'
import { tokenOf } from '../deployments/uploading.ts'
import { simulatedApp } from '../support/app.ts'
import { path, privateKey, rest, s3, scene, sftp, snake } from './target-scene.ts'

describe('a target that is changed', () => {
  const added = async (body: Record<string, unknown>) => {
    const all = scene()
    const { json } = await all.ada.post(path, body)
    all.tried.length = 0
    const row = () => getTarget(all.t.db, { id: json.id, ownerId: all.ada.user.id })!
    return { ...all, key: json.password, path: `${path}/${json.id}`, row }
  }

  test('isn’t tried out again for another name', async () => {
    const { ada, tried, path, row } = await added(s3)
    expect((await ada.put(path, { name: 'elsewhere' })).json.name).toBe('elsewhere')
    expect(tried).toEqual([])
    expect(
      (await ada.htmx('PUT', path, { ...snake(s3), secret_key: '', password: '' })).status,
    ).toBe(200)
    expect(tried).toEqual([])
    expect(row().name).toBe('offsite')
  })

  test('asks again for a secret that a refused form lost, lest the former one stays unnoticed', async () => {
    const { ada, path } = await added(s3)
    const wrong = { ...snake(s3), name: '', secret_key: 'another', password: '' }
    const { text } = await ada.htmx('PUT', path, wrong)
    const complained = [...text.matchAll(/id="field-(\w+)-error"/g)].map(([, name]) => name)
    expect(complained).toEqual(['name', 'secret_key'])
  })

  test('is tried out with its stored secrets, and keeps its key', async () => {
    const { t, ada, tried, path, row, key } = await added(s3)
    expect((await ada.put(path, { bucket: 'others' })).status).toBe(200)
    expect(tried).toMatchObject([{ bucket: 'others', secretKey: 'a secret key', password: key }])
    expect(openTarget(t, row())).toMatchObject(tried[0]!)
  })

  test('keeps its key when that is null', async () => {
    const { t, ada, tried, path, row, key } = await added(s3)
    expect((await ada.put(path, { password: null })).status).toBe(200)
    expect(tried).toEqual([])
    expect(openTarget(t, row())).toMatchObject({ password: key })
  })

  test('isn’t moved by a token while Davit itself is backed up to it', async () => {
    const { t, root } = scene()
    const { json } = await root.post(path, s3)
    const plan = { targetId: json.id, schedule: '0 3 * * *' }
    const call = asToken(t.app, tokenOf(t, root.user.id))
    const change = (body: object) => {
      const headers = { 'Content-Type': 'application/json' }
      return call('PUT', `${path}/${json.id}`, { body: JSON.stringify(body), headers })
    }
    expect((await change({ bucket: 'others' })).status).toBe(200)
    expect((await root.put('/settings/backups/plan', plan)).status).toBe(200)
    expect((await change({ bucket: 'elsewhere' })).status).toBe(403)
    expect((await change({ name: 'another name' })).status).toBe(200)
    expect((await root.put(`${path}/${json.id}`, { bucket: 'elsewhere' })).status).toBe(200)
  })

  test('needs its secrets again for another host, and keeps the key of its repository', async () => {
    const { ada, tried, path, key } = await added(s3)
    const moved = await ada.put(path, { endpoint: 'https://s3.example.com' })
    expect(moved.json.errors.map((one: { field: string }) => one.field)).toEqual(['secretKey'])
    expect(tried).toEqual([])
    await ada.put(path, { endpoint: 'https://s3.example.com', secretKey: 'another' })
    expect(tried).toMatchObject([{ secretKey: 'another', password: key }])
  })

  test('with an optional secret needs that again, too, and can lose it', async () => {
    const { t, ada, path, row, tried } = await added({ ...rest, user: 'ada', userPassword: 'pw' })
    const moved = await ada.put(path, { url: 'https://elsewhere.example.com' })
    expect(moved.json.errors.map((one: { field: string }) => one.field)).toEqual(['userPassword'])
    const form = { ...snake(rest), user: 'ada', user_password: '', password: '' }
    expect(
      (await ada.htmx('PUT', path, { ...form, url: 'https://elsewhere.example.com' })).status,
    ).toBe(422)
    expect(tried).toEqual([])
    expect((await ada.htmx('PUT', path, { ...form, user: '' })).status).toBe(200)
    expect(openTarget(t, row())).toMatchObject({ url: rest.url, user: null, userPassword: null })
  })

  test('is tried out without a secret that is removed', async () => {
    const { ada, path, tried } = await added({ ...rest, user: 'ada', userPassword: 'pw' })
    expect((await ada.put(path, { userPassword: null })).status).toBe(200)
    expect(tried).toMatchObject([{ user: 'ada', userPassword: null }])
  })

  test('can’t become another kind', async () => {
    const { ada, path } = await added(s3)
    const refused = await ada.put(path, { ...rest })
    expect(refused.json.errors).toMatchObject([{ field: 'kind' }])
  })

  test('is refused when it can’t be used, and stays as it was', async () => {
    const { ada, path, answers, row } = await added(s3)
    const before = row()
    answers.failure = new Failure('target_key', 'Another key.', 'Correct it.')
    const refused = await ada.put(path, { password: 'not its key' })
    expect(refused.json.errors).toMatchObject([{ field: 'password' }])
    expect(row()).toEqual(before)
  })

  test('accepts only the host key that it saw, until its host is another', async () => {
    const all = scene()
    all.answers.hostKey = 'ssh-ed25519 AAAA'
    const { json } = await all.ada.post(path, sftp)
    expect(json.hostKey).toBe('ssh-ed25519 AAAA')
    const one = `${path}/${json.id}`
    await all.ada.put(one, { path: 'others' })
    expect(all.tried.at(-1)).toMatchObject({ hostKey: 'ssh-ed25519 AAAA' })
    all.answers.hostKey = 'ssh-ed25519 BBBB'
    const moved = await all.ada.put(one, { host: 'nas.example.com', key: privateKey })
    expect(all.tried.at(-1)).toMatchObject({ hostKey: null })
    expect(moved.json.hostKey).toBe('ssh-ed25519 BBBB')
  })

  test('is in the audit log by its fields and not by their values', async () => {
    const { t, ada, path } = await added(s3)
    await ada.put(path, { secretKey: 'another', bucket: 'others' })
    await ada.post(`${path}/test`, {})
    await ada.delete(path)
    const { items } = (await t.logInAsAdmin('eve@example.com').get('/settings/audit')).json
    const events = items.map(({ action, details }: any) => [action, details])
    expect(events.slice(0, 4)).toEqual([
      ['target.removed', {}],
      ['target.test', {}],
      ['target.changed', { changes: 'secretKey, bucket' }],
      ['target.added', { kind: 's3' }],
    ])
    expect(JSON.stringify(items)).not.toContain('another')
  })
})

test('a target is tested with what is stored, and says what fails', async () => {
  const { ada, tried, answers } = scene()
  const { json } = await ada.post(path, s3)
  const test = `${path}/${json.id}/test`
  const works = await ada.post(test, {})
  expect(works.status).toBe(200)
  expect(works.json).toMatchObject({ id: json.id, name: 'offsite' })
  expect(works.json.password).toBeUndefined()
  expect(tried).toHaveLength(2)
  answers.failure = new Failure('target_full', 'It is full.', 'Make room.')
  expect((await ada.post(test, {})).status).toBe(422)
})

test('a target may take longer to be tried out than other requests may', async () => {
  const requestTimeout = 0.05
  const late = () => new Promise<void>((done) => setTimeout(done, requestTimeout * 3000))
  const t = simulatedApp(
    {},
    {
      config: { requestTimeout },
      tryOut: () => late().then(() => ({ hostKey: null })),
    },
  )
  expect((await t.logIn('ada@example.com').post(path, s3)).status).toBe(201)
})
