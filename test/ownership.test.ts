import { expect, test } from 'bun:test'
import { testApp, withAda } from './support/app.ts'
import type { Answer, TestClient } from './support/client.ts'
import { everything, fill } from './support/everything.ts'
import type { Ids } from './support/everything.ts'
import { ownedRoutes } from './support/owned-routes.ts'
import { contentsOf } from './support/refusals.ts'

const walked = Object.entries(ownedRoutes).flatMap(([route, entry]) => {
  const [method, path] = route.split(' ') as [string, string]
  return typeof entry === 'string' ? [] : [{ route, method, path, ...entry }]
})

const noIds = (): Ids => ({
  user: Bun.randomUUIDv7(),
  source: Bun.randomUUIDv7(),
  target: Bun.randomUUIDv7(),
  delivery: Bun.randomUUIDv7(),
  project: Bun.randomUUIDv7(),
  environment: Bun.randomUUIDv7(),
  variable: Bun.randomUUIDv7(),
  deployment: Bun.randomUUIDv7(),
  run: Bun.randomUUIDv7(),
  schedule: Bun.randomUUIDv7(),
  freeze: Bun.randomUUIDv7(),
  drain: Bun.randomUUIDv7(),
  session: Bun.randomUUIDv7(),
  token: Bun.randomUUIDv7(),
  invite: Bun.randomUUIDv7(),
  identity: Bun.randomUUIDv7(),
  container: '0'.repeat(64),
  registry: Bun.randomUUIDv7(),
  server: Bun.randomUUIDv7(),
  channel: Bun.randomUUIDv7(),
  event: Bun.randomUUIDv7(),
  backup: Bun.randomUUIDv7(),
  service: Bun.randomUUIDv7(),
  link: Bun.randomUUIDv7(),
  domain: Bun.randomUUIDv7(),
})

function send(client: TestClient, method: string, path: string, body?: Record<string, unknown>) {
  const call = { GET: client.get, POST: client.post, PUT: client.put, DELETE: client.delete }[
    method
  ]!
  return call(path, body) as Promise<Answer>
}

const withoutRequestId = ({ requestId, ...rest }: Record<string, unknown>) => rest

test('the walk below knows every route that has a parameter', () => {
  const found = testApp()
    .app.routes.filter(({ method, path }) => method !== 'ALL' && /[:*]/.test(path))
    .map(({ method, path }) => `${method} ${path}`)
  expect([...new Set(found)].sort()).toEqual(Object.keys(ownedRoutes).sort())
})

test('the walk below uses addresses that are there for their owner', async () => {
  const { t, ada } = withAda(testApp())
  const ids = await everything(t, ada)
  const headers = { Accept: 'application/json' }
  for (const { route, path, id, asksProvider, answers } of walked.filter(
    (w) => w.method === 'GET',
  )) {
    const { status, body } = await ada.send(fill(path, ids, id), { headers })
    await body?.cancel() // a stream would not end
    expect(status, route).toBe(asksProvider ? 502 : (answers ?? 200)) // nobody can be asked here
  }
})

test('what belongs to someone else is missing, and stays as it is', async () => {
  const { t, ada } = withAda(testApp())
  const ids = await everything(t, ada)
  const bob = t.logIn('bob@example.com')
  await everything(t, bob)
  const before = contentsOf(t)
  for (const { route, method, path, id, body } of walked) {
    const foreign = await send(bob, method, fill(path, ids, id), body)
    const missing = await send(bob, method, fill(path, noIds(), id), body)
    expect(foreign.status, route).toBe(404)
    expect(withoutRequestId(foreign.json), route).toEqual(withoutRequestId(missing.json))
    expect(missing.status, route).toBe(404)
    expect(contentsOf(t), route).toEqual(before)
  }
  expect(t.db.$client.query('SELECT id FROM sessions WHERE id = ?').get(ids.session)).not.toBeNull()
})

test('what belongs to someone else is missing before its body is looked at', async () => {
  const t = testApp()
  const ids = await everything(t, t.logIn('ada@example.com'))
  const bob = t.logIn('bob@example.com')
  for (const { route, method, path, id } of walked.filter(({ body }) => body)) {
    const answer = await send(bob, method, fill(path, ids, id), { name: 7, key: 7, value: 7 })
    expect(answer.status, route).toBe(404)
  }
})

test('a child under a parent that is not its own is missing', async () => {
  const { t, ada } = withAda(testApp())
  const bob = t.logIn('bob@example.com')
  const [own, foreign] = [await everything(t, bob), await everything(t, ada)]
  const other = await bob.post('/projects', {
    name: 'other',
    repositoryUrl: 'https://git.example.com/team/other.git',
  })
  const [otherEnvironment] = (await bob.get(`/projects/${other.json.id}/envs`)).json.items
  const mixtures: Ids[] = [
    { ...foreign, project: own.project },
    { ...own, project: foreign.project },
    { ...own, project: other.json.id },
    { ...own, environment: otherEnvironment.id },
    { ...foreign, environment: own.environment },
  ]
  const before = contentsOf(t)
  const nested = walked.filter(
    ({ path, asksProvider }) => (path.match(/:/g) ?? []).length > 1 && !asksProvider,
  )
  expect(nested.length).toBeGreaterThan(8)
  for (const { route, method, path, id, body } of nested)
    for (const ids of mixtures) {
      const parts = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name)
      const same = parts.every((name) => {
        const part =
          name === 'envId'
            ? 'environment'
            : name === 'deploymentId'
              ? 'deployment'
              : name === 'deliveryId'
                ? 'delivery'
                : (id ?? 'project')
        return ids[part] === own[part]
      })
      if (same) continue // this mixture is about another part
      expect((await send(bob, method, fill(path, ids, id), body)).status, route).toBe(404)
    }
  expect(contentsOf(t)).toEqual(before)
})

test('without a session every one of them asks for a login, and does nothing', async () => {
  const t = testApp()
  const ids = await everything(t, t.logIn('ada@example.com'))
  const before = contentsOf(t)
  for (const { route, method, path, id } of walked) {
    const ask = (headers: Record<string, string>) =>
      t.app.request(fill(path, ids, id), { method, headers })
    const program = await ask({ Accept: 'application/json' })
    const browser = await ask({ Accept: 'text/html' })
    const partial = await ask({ 'HX-Request': 'true' })
    expect(program.status, route).toBe(401)
    expect(browser.status, route).toBe(303)
    expect(browser.headers.get('Location'), route).toStartWith('/login')
    expect(partial.status, route).toBe(401)
    expect(partial.headers.get('HX-Redirect'), route).toBe('/login')
  }
  expect(contentsOf(t)).toEqual(before)
})

test('what is for admins is refused to everyone else', async () => {
  const t = testApp()
  const bob = t.logIn('bob@example.com')
  const forAdmins = Object.keys(ownedRoutes).filter((route) => ownedRoutes[route] === 'admin')
  for (const route of forAdmins) {
    const [method, path] = route.split(' ') as [string, string]
    expect((await send(bob, method, path.replace(':id', bob.user.id))).status, route).toBe(403)
  }
})

test('odd ids are missing, not errors', async () => {
  const bob = testApp().logIn('bob@example.com')
  for (const id of ['x', '%00', '..%2f', "'", '%F0%9F%98%80', '%', 'a'.repeat(5000)])
    for (const path of [`/projects/${id}`, `/projects/${id}/envs`, `/envs/${id}/variables`])
      expect((await bob.get(path)).status, path.slice(0, 60)).toBe(404)
})
