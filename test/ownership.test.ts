import { expect, test } from 'bun:test'
import { testApp, withAda } from './support/app.ts'
import type { Answer, TestClient } from './support/client.ts'
import { everything, fill } from './support/everything.ts'
import type { Ids } from './support/everything.ts'
import { contentsOf } from './support/refusals.ts'

/**
 * Every route with an id in its path: which id stands where, and a body that the owner could send.
 * A route that is missing here fails the first test.
 */
const routes: Record<
  string,
  | { id?: keyof Ids; body?: Record<string, unknown>; asksProvider?: boolean; answers?: number }
  | 'admin'
  | 'file'
> = {
  'GET /static/*': 'file',
  'GET /docs/:name': 'file',
  'GET /projects/:id': {},
  'PUT /projects/:id': { body: { name: 'taken over' } },
  'DELETE /projects/:id': { body: { volumes: true } },
  'GET /projects/:id/detection': {},
  'GET /projects/:id/watched-files': {},
  'GET /projects/:id/delete': {},
  'GET /projects/:id/settings': {},
  'PUT /projects/:id/settings': { body: { keepImages: 1 } },
  'GET /projects/:id/webhook': {},
  'POST /projects/:id/webhook': {},
  'DELETE /projects/:id/webhook': {},
  'GET /projects/:id/deployments': {},
  'POST /projects/:id/deployments': {},
  'POST /projects/:id/deploy': {},
  'GET /projects/:id/deployments/:deploymentId': {},
  'GET /projects/:id/deployments/:deploymentId/status': {},
  'GET /projects/:id/deployments/:deploymentId/compare': {},
  'GET /projects/:id/deployments/:deploymentId/rollback': {},
  'POST /projects/:id/deployments/:deploymentId/rollback': {},
  'POST /projects/:id/deployments/:deploymentId/cancel': {},
  'GET /projects/:id/deployments/:deploymentId/logs': {},
  'GET /projects/:id/deliveries': {},
  'POST /projects/:id/deliveries/:deliveryId/replay': {},
  'POST /projects/:id/webhook-secret': {},
  'POST /projects/:id/webhook-secret/show': {},
  'GET /projects/:id/envs': {},
  'GET /projects/:id/envs/new': {},
  'POST /projects/:id/envs': { body: { name: 'staging' } },
  'GET /projects/:id/envs/:envId': {},
  'GET /projects/:id/envs/:envId/edit': {},
  'PUT /projects/:id/envs/:envId': { body: { memoryMb: 64 } },
  'POST /envs/:envId/start': {},
  'POST /envs/:envId/restart': {},
  'POST /envs/:envId/stop': {},
  'DELETE /projects/:id/envs/:envId': {},
  'GET /projects/:id/envs/:envId/output': {},
  'GET /projects/:id/envs/:envId/output/stream': {},
  'GET /projects/:id/envs/:envId/usage': {},
  'GET /projects/:id/envs/:envId/metrics': {},
  'GET /projects/:id/envs/:envId/deployments': {},
  'GET /envs/:envId/traffic': {},
  'GET /envs/:envId/runs': {},
  'POST /envs/:envId/runs': { body: { command: 'true' } },
  'GET /envs/:envId/runs/:id': { id: 'run' },
  'GET /envs/:envId/runs/:id/status': { id: 'run' },
  'GET /envs/:envId/runs/:id/logs': { id: 'run' },
  'GET /envs/:envId/runs/:id/attach': { id: 'run', answers: 409 }, // it has ended
  'POST /envs/:envId/runs/:id/cancel': { id: 'run' },
  'GET /envs/:envId/variables': {},
  'GET /envs/:envId/variables/new': {},
  'GET /envs/:envId/variables/text': {},
  'PUT /envs/:envId/variables': { body: { text: 'A=x' } },
  'GET /envs/:envId/links/new': {},
  'POST /envs/:envId/variables': { body: { key: 'A', value: 'x' } },
  'GET /envs/:envId/variables/:id': { id: 'variable' },
  'PUT /envs/:envId/variables/:id': { id: 'variable', body: { value: 'x' } },
  'DELETE /envs/:envId/variables/:id': { id: 'variable' },
  'GET /envs/:envId/links': {},
  'POST /envs/:envId/links': { body: { serviceId: Bun.randomUUIDv7() } },
  'GET /envs/:envId/links/:id': { id: 'link' },
  'PUT /envs/:envId/links/:id': { id: 'link', body: { variables: {} } },
  'DELETE /envs/:envId/links/:id': { id: 'link' },
  'GET /envs/:envId/domains': {},
  'GET /envs/:envId/domains/new': {},
  'POST /envs/:envId/domains': { body: { host: 'taken.example.com' } },
  'GET /services/:id{[a-f0-9-]{36}}/domains': { id: 'service' },
  'GET /services/:id{[a-f0-9-]{36}}/domains/new': { id: 'service' },
  'POST /services/:id{[a-f0-9-]{36}}/domains': {
    id: 'service',
    body: { host: 'taken.example.com', target: 'cache:80' },
  },
  'GET /domains/:id': { id: 'domain' },
  'PUT /domains/:id': { id: 'domain', body: { maintenance: true } },
  'DELETE /domains/:id': { id: 'domain' },
  'POST /domains/:id/check': { id: 'domain' },
  'DELETE /settings/sessions/:id': { id: 'session' },
  'GET /settings/tokens/:id': { id: 'token' },
  'DELETE /settings/tokens/:id': { id: 'token' },
  'DELETE /settings/identities/:id': { id: 'identity' },
  'GET /settings/git/:id': { id: 'source', asksProvider: true },
  'DELETE /settings/git/:id': { id: 'source' },
  'GET /settings/registries/:id': { id: 'registry' },
  'DELETE /settings/registries/:id': { id: 'registry' },
  'GET /api/git/sources/:sourceId/repos': { asksProvider: true },
  'GET /api/git/sources/:sourceId/repos/:owner/:repo/branches': { asksProvider: true },
  'GET /api/git/sources/:sourceId/repos/:owner/:repo/tags': { asksProvider: true },
  'GET /services/:template/configure': 'file',
  'POST /services/:template': 'file',
  'GET /services/:id{[a-f0-9-]{36}}': { id: 'service' },
  'PUT /services/:id{[a-f0-9-]{36}}': { id: 'service', body: { name: 'taken over' } },
  'DELETE /services/:id{[a-f0-9-]{36}}': { id: 'service', body: { volumes: true, force: true } },
  'GET /services/:id{[a-f0-9-]{36}}/delete': { id: 'service' },
  'GET /services/:id{[a-f0-9-]{36}}/edit': { id: 'service' },
  'GET /services/:id{[a-f0-9-]{36}}/events': { id: 'service' },
  'GET /services/:id{[a-f0-9-]{36}}/secrets': { id: 'service' },
  'GET /services/:id{[a-f0-9-]{36}}/output': { id: 'service' },
  'GET /services/:id{[a-f0-9-]{36}}/traffic': { id: 'service' },
  'GET /services/:id{[a-f0-9-]{36}}/logs': { id: 'service' },
  'GET /services/:id{[a-f0-9-]{36}}/output/stream': { id: 'service' },
  'POST /services/:id{[a-f0-9-]{36}}/restart': { id: 'service' },
  'POST /services/:id{[a-f0-9-]{36}}/stop': { id: 'service' },
  'POST /services/:id{[a-f0-9-]{36}}/cancel': { id: 'service' },
  'GET /containers/:id': { id: 'container' },
  'GET /containers/:id/stats': { id: 'container' },
  'GET /containers/:id/logs': { id: 'container' },
  'GET /containers/:id/terminal': { id: 'container', answers: 409 }, // it doesn't run
  'GET /containers/:id/usage': { id: 'container' },
  'POST /containers/:id/stop': { id: 'container' },
  'POST /containers/:id/restart': { id: 'container' },
  'GET /settings/invites/:id': 'admin',
  'DELETE /settings/invites/:id': 'admin',
  'POST /settings/activity/deployments/:id/cancel': 'admin',
  'POST /settings/activity/environments/:id/cancel': 'admin',
  'POST /settings/activity/runs/:id/cancel': 'admin',
  'POST /settings/activity/services/:id/cancel': 'admin',
  'PUT /settings/grants/:id': 'admin',
  'PUT /settings/users/:id': 'admin',
  'GET /settings/users/:id/delete': 'admin',
  'DELETE /settings/users/:id': 'admin',
}

const walked = Object.entries(routes).flatMap(([route, entry]) => {
  const [method, path] = route.split(' ') as [string, string]
  return typeof entry === 'string' ? [] : [{ route, method, path, ...entry }]
})

const noIds = (): Ids => ({
  user: Bun.randomUUIDv7(),
  source: Bun.randomUUIDv7(),
  delivery: Bun.randomUUIDv7(),
  project: Bun.randomUUIDv7(),
  environment: Bun.randomUUIDv7(),
  variable: Bun.randomUUIDv7(),
  deployment: Bun.randomUUIDv7(),
  run: Bun.randomUUIDv7(),
  session: Bun.randomUUIDv7(),
  token: Bun.randomUUIDv7(),
  invite: Bun.randomUUIDv7(),
  identity: Bun.randomUUIDv7(),
  container: '0'.repeat(64),
  registry: Bun.randomUUIDv7(),
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
  expect([...new Set(found)].sort()).toEqual(Object.keys(routes).sort())
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
  const forAdmins = Object.keys(routes).filter((route) => routes[route] === 'admin')
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
