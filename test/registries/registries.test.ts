import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { authFor } from '../../src/registries/auth.ts'
import { registryOf } from '../../src/registries/image-registry.ts'
import { testApp, withAda } from '../support/app.ts'
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
