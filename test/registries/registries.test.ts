import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { authFor } from '../../src/registries/auth.ts'
import { registryOf } from '../../src/registries/image-registry.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { startRegistry } from '../support/registry.ts'
import type { ImageRegistry } from '../support/registry.ts'

const user = { username: 'puller', password: 'a pass word that opens' }
let registry: ImageRegistry

beforeAll(async () => {
  registry = await startRegistry(user)
})
afterAll(() => registry.stop())

test('a registry is kept once the engine was let in, and its password never comes out', async () => {
  const { t, ada } = withAda(testApp())
  const added = await ada.post('/settings/registries', {
    host: `http://${registry.host}/`,
    ...user,
  })
  expect(added.status).toBe(201)
  expect(added.json).toMatchObject({ host: registry.host, username: user.username })
  const answers = [
    added.text,
    (await ada.get('/settings/registries')).text,
    (await ada.page('/settings/registries')).text,
    (await ada.get(added.headers.get('Location')!)).text,
  ]
  for (const answer of answers) expect(answer).not.toContain(user.password)
  const stored = t.db.$client.query('SELECT password FROM registries').get()
  expect(JSON.stringify(stored)).not.toContain(user.password)
})

test('a wrong password is reported at its field, and nothing is kept', async () => {
  const { ada } = withAda(testApp())
  const body = { host: registry.host, username: 'puller', password: 'wrong' }
  const answer = await ada.post('/settings/registries', body)
  expect(answer.status).toBe(422)
  expect(answer.json.errors).toMatchObject([{ field: 'password' }])
  expect((await ada.get('/settings/registries')).json.items).toEqual([])
})

test('a form that is refused comes back without the password', async () => {
  const { ada } = withAda(testApp())
  const form = { host: registry.host, username: 'puller', password: 'the wrong secret' }
  const answer = await ada.htmx('POST', '/settings/registries', form)
  expect(answer.status).toBe(422)
  expect(answer.text).toContain('puller')
  expect(answer.text).not.toContain('the wrong secret')
})

test('a host where no registry answers is reported at its field', async () => {
  const ada = testApp().logIn('ada@example.com')
  const answer = await ada.post('/settings/registries', { host: '127.0.0.1:1', ...user })
  expect(answer.status).toBe(422)
  expect(answer.json.errors).toMatchObject([{ field: 'host' }])
})

test.each([
  '',
  'a b',
  '-x',
  'host:0',
  'host:99999',
  '169.254.169.254',
  '10.0.0.1:5000',
  '[::1]:5000',
])('the host %j is refused', async (host) => {
  const ada = testApp().logIn('ada@example.com')
  const answer = await ada.post('/settings/registries', { host, ...user })
  expect(answer.status).toBe(422)
  expect(answer.json.errors[0].field).toBe('host')
})

test('the same registry is not added twice', async () => {
  const ada = testApp().logIn('ada@example.com')
  const body = { host: registry.host, ...user }
  await ada.post('/settings/registries', body)
  expect((await ada.post('/settings/registries', body)).status).toBe(409)
})

test.each(['index.docker.io', 'https://Registry-1.docker.io/', 'registry.hub.docker.com'])(
  'Docker Hub, added as %s, is kept by the one name by which its images look for it',
  async (host) => {
    const { t, ada } = withAda(simulatedApp())
    const { json } = await ada.post('/settings/registries', { host, ...user })
    expect(json.host).toBe('docker.io')
    expect(authFor(t.deps, { ownerId: ada.user.id, image: 'team/app' })).toMatchObject(user)
    const again = await ada.post('/settings/registries', { host: 'docker.io', ...user })
    expect(again.status).toBe(409)
  },
)

describe('a login that is changed', () => {
  const added = async () => {
    const { t, ada } = withAda(testApp())
    const { json } = await ada.post('/settings/registries', { host: registry.host, ...user })
    const path = `/settings/registries/${json.id}`
    const auth = () => authFor(t.deps, { ownerId: ada.user.id, image: `${registry.host}/app` })
    return { t, ada, path, auth }
  }
  const changesOf = async (t: TestApp) => {
    const { items } = (await t.logInAsAdmin().get('/settings/audit')).json
    return items
      .filter(({ action }: { action: string }) => action === 'registry.changed')
      .map(({ details }: { details: object }) => details)
  }

  test('keeps its password when the field is left empty, and still logs in first', async () => {
    const { t, ada, path, auth } = await added()
    const form = { host: registry.host, username: user.username, password: '' }
    expect((await ada.htmx('PUT', path, form)).status).toBe(200)
    expect(auth()).toMatchObject(user)
    expect(await changesOf(t)).toEqual([])
    const wrong = await ada.put(path, { username: 'another' })
    expect(wrong.status).toBe(422)
    expect(wrong.json.errors).toMatchObject([{ field: 'password' }])
    expect(auth()).toMatchObject(user)
  })

  test('that is changed while the engine is asked keeps what it got meanwhile', async () => {
    const { t, ada, path, auth } = await added()
    const password = 'a new pass word'
    t.faults.checkRegistry = async () => {
      t.faults.checkRegistry = async () => {}
      expect((await ada.put(path, { password })).status).toBe(200)
    }
    expect((await ada.put(path, { username: 'another' })).status).toBe(409)
    expect(auth()).toMatchObject({ username: user.username, password })
    expect((await ada.put(path, { username: 'another' })).status).toBe(200)
    expect(auth()).toMatchObject({ username: 'another', password })
    expect(await changesOf(t)).toHaveLength(2)
  })

  test('is shown in its form with what was typed, and never its password', async () => {
    const { ada, path } = await added()
    const edit = (await ada.page(`${path}/edit`)).text
    expect(edit).toContain(registry.host)
    expect(edit).not.toContain(user.password)
    const refused = await ada.htmx('PUT', path, { host: registry.host, username: 'a b' })
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('value="a b"')
  })

  test('needs its password again for another host: no one else may be sent it', async () => {
    const { ada, path, auth } = await added()
    const moved = await ada.put(path, { host: 'registry.example.com' })
    expect(moved.status).toBe(422)
    expect(moved.json.errors).toMatchObject([{ field: 'password' }])
    expect(auth()).toMatchObject(user)
  })

  test('is in the audit log by the names of its fields', async () => {
    const { t, ada, path } = await added()
    expect((await ada.put(path, user)).json).toMatchObject({ username: user.username })
    expect(await changesOf(t)).toEqual([{ changes: 'password' }])
  })
})

describe('what a pull is authorised with', () => {
  test('is the login of the image’s registry, and only its owner’s', async () => {
    const t = testApp()
    const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
    await ada.post('/settings/registries', { host: registry.host, ...user })
    const image = `${registry.host}/team/app:1`
    expect(authFor(t.deps, { ownerId: ada.user.id, image })).toEqual({
      ...user,
      serveraddress: registry.host,
    })
    expect(authFor(t.deps, { ownerId: bob.user.id, image })).toBeUndefined()
    expect(authFor(t.deps, { ownerId: ada.user.id, image: 'busybox' })).toBeUndefined()
  })

  test.each([
    ['busybox', 'docker.io'],
    ['team/app:1', 'docker.io'],
    ['index.docker.io/team/app', 'docker.io'],
    ['ghcr.io/team/app@sha256:abc', 'ghcr.io'],
    ['localhost/app', 'localhost'],
    ['INTRANET/app', 'intranet'],
    ['registry.example.com:5000/app:2', 'registry.example.com:5000'],
  ])('of %s is looked for at %s', (image, host) => {
    expect(registryOf(image)).toBe(host)
  })
})
