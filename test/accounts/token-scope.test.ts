import { describe, expect, test } from 'bun:test'
import { makeToken } from '../../src/accounts/token-store.ts'
import { deployHook, deployRoutes, refuseUngiven } from '../../src/accounts/token-scope.ts'
import type { ApiToken } from '../../src/web/factory.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { contentsOf } from '../support/refusals.ts'
import { asToken } from './visitor.ts'

type Scopes = ApiToken['scopes']

/** The whole product, a token for it, and every route that changes something, but the receivers of pushes. */
function withToken(...scopes: Scopes) {
  const t = testApp()
  return { ...t, ...tokenOf(t, t.logIn('ada@example.com'), scopes) }
}

/** The same of a user to whom the engine is not refused. */
function withTokenOfAdmin(...scopes: Scopes) {
  const t = testApp()
  return { ...t, ...tokenOf(t, t.logInAsAdmin(), scopes) }
}

function tokenOf(t: TestApp, { user }: TestClient, scopes: Scopes) {
  const { token } = makeToken(t.db, { userId: user.id, name: 'ci', scopes, expiresInDays: null })
  const changes = t.app.routes.filter(
    ({ method, path }) =>
      !['ALL', 'GET'].includes(method) && !/^\/(webhooks|hooks\/registry)\//.test(path),
  )
  const call = asToken(t.app, token)
  const send = (method: string, path: string) =>
    call(
      method,
      path.replace(/:\w+(\{[^}]*\}+)?/g, () => Bun.randomUUIDv7()),
    )
  return { call, send, changes }
}

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
const missing = (scope: string) =>
  expect.objectContaining({
    status: 403,
    detail: `This API token lacks the scope ${scope}. Create one with this scope under Settings, Tokens.`,
  })
const isPersonal = (path: string) =>
  path.startsWith('/auth/') ||
  (path.startsWith('/settings/') &&
    !/^\/settings\/(git|registries|targets|channels|events|prune|activity)/.test(path))

test('read is refused every change there is, and changes nothing', async () => {
  const t = withToken('read')
  expect((await t.call('GET', '/projects')).status).toBe(200)
  const before = contentsOf(t)
  expect(t.changes.length).toBeGreaterThan(20)
  for (const route of t.changes) {
    const answer = await t.send(route.method, route.path)
    expect(answer.status, nameOf(route)).toBe(403)
    expect(answer.headers.get('Content-Type')).toBe('application/problem+json')
  }
  expect(contentsOf(t)).toEqual(before)
})

test('deploy is refused every change but those that are named', async () => {
  const t = withToken('deploy')
  expect((await t.call('GET', '/projects')).status).toBe(200)
  for (const route of t.changes) {
    const isGiven = deployRoutes.includes(nameOf(route))
    expect((await t.send(route.method, route.path)).status, nameOf(route)).toBe(isGiven ? 404 : 403)
  }
})

test('write is refused only what is a person’s', async () => {
  const t = withTokenOfAdmin('write')
  for (const route of t.changes) {
    const { status } = await t.send(route.method, route.path)
    if (isPersonal(route.path) || nameOf(route) === deployHook)
      expect(status, nameOf(route)).toBe(403)
    else expect(status, nameOf(route)).not.toBe(403)
  }
})

test('no token makes tokens, changes password or e-mail, or governs users', () => {
  for (const route of [
    'POST /settings/tokens',
    'DELETE /settings/tokens/:id',
    'PUT /settings/password',
    'PUT /settings/profile',
    'DELETE /settings/sessions',
    'DELETE /settings/sessions/:id',
    'DELETE /settings/identities/:id',
    'POST /settings/invites',
    'PUT /settings/users/:id',
    'DELETE /settings/users/:id',
    'GET /auth/oauth',
    'POST /auth/login',
    'POST /auth/logout',
    'POST /settings/anything-that-comes-later',
  ]) {
    const [method, path] = route.split(' ') as [string, string]
    const refused = () => refuseUngiven({ scopes: ['read', 'deploy', 'write'] }, { method, path })
    expect(refused, route).toThrow('API tokens can’t do this')
  }
})

test('an admin’s token looks at the users, and changes none', async () => {
  const t = withTokenOfAdmin('write')
  const { id } = t.logIn('bob@example.com').user
  expect((await t.call('GET', '/settings/users')).status).toBe(200)
  expect((await t.call('DELETE', `/settings/users/${id}`)).status).toBe(403)
})

describe('the refusal names the scope that is missing', () => {
  test.each<[Scopes, string, string]>([
    [['read'], '/projects', 'write'],
    [['read'], '/projects/x/deployments', 'deploy'],
    [['read', 'deploy'], '/projects', 'write'],
  ])('%p POST %s', async (scopes, path, scope) => {
    const answer = await withToken(...scopes).call('POST', path)
    expect(await answer.json()).toEqual(missing(scope))
  })
})

test('HEAD is a GET, and what is not there is not found', async () => {
  const { call } = withToken('read')
  expect((await call('HEAD', '/projects')).status).toBe(200)
  expect((await call('POST', '/nothing-here')).status).toBe(404)
  expect((await call('DELETE', '/projects')).status).toBe(405)
})

test('a route that does not exist yet is refused to read and deploy', () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PURGE'])
    for (const scopes of [['read'], ['deploy'], ['read', 'deploy']] satisfies Scopes[]) {
      const refused = () => refuseUngiven({ scopes }, { method, path: '/projects/:id/new-thing' })
      expect(refused).toThrow('lacks the scope write')
    }
})

test('a script drives a project from its making to its end', async () => {
  const { call } = withToken('write')
  const body = JSON.stringify({ name: 'site', repositoryUrl: 'https://git.example.com/a/b.git' })
  const headers = { 'Content-Type': 'application/json' }
  const made = await call('POST', '/projects', { body, headers })
  expect(made.status).toBe(201)
  const { id } = (await made.json()) as { id: string }
  expect((await call('GET', `/projects/${id}`)).status).toBe(200)
  expect((await call('DELETE', `/projects/${id}`)).status).toBe(200)
})
