import { describe, expect, test } from 'bun:test'
import { makeToken } from '../../src/accounts/make-token.ts'
import { makeInvite } from '../../src/accounts/make-invite.ts'
import { insertSession, listSessions } from '../../src/accounts/store.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { insertEnvironment } from '../../src/environments/store.ts'
import { insertVariable } from '../../src/environments/variable-store.ts'
import { insertSource } from '../../src/git/store.ts'
import { limits } from '../../src/limits.ts'
import { findProject, insertProject } from '../../src/projects/store.ts'
import { addRegistry } from '../../src/registries/add.ts'
import { insertRegistry } from '../../src/registries/store.ts'
import { insertService } from '../../src/services/store.ts'
import { addSource } from '../git/source.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { startProviderServer } from '../support/provider-server.ts'

const repositoryUrl = 'https://git.example.com/team/site.git'

/** Makes that many at once, as what a user has made over years. */
function many(t: TestApp, count: number, make: (index: number) => unknown) {
  t.db.transaction(() => {
    for (let i = 0; i < count; i++) make(i)
  })
}

function refusedAt(limit: number, answer: Answer, status = 409) {
  expect(answer.status, answer.text).toBe(status)
  expect(answer.headers.get('Content-Type')).toBe('application/problem+json')
  expect(answer.json.detail).toContain(` ${limit} `)
  expect(answer.json.detail).toContain('which is the most')
}

async function setUp() {
  const t = testApp()
  t.queue.wake = () => {} // nothing is to be deployed: it waits
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const project = (await ada.post('/projects', { name: 'site', repositoryUrl })).json
  const environment = (await ada.get(`/projects/${project.id}/envs`)).json.items[0]
  return { t, ada, bob, project, environment, ownerId: ada.user.id }
}

describe('one user may not have more than so many', () => {
  test('projects and environments, which hold ports of the host', async () => {
    const { t, ada, bob, project, ownerId } = await setUp()
    many(t, limits.projects - 2, (i) =>
      insertProject(
        t.db,
        { ownerId, name: `p${i}`, repositoryUrl, webhookSecret: 'sealed' },
        { hostPort: 1024 + i },
      ),
    )
    const another = { name: 'last', repositoryUrl }
    expect((await ada.post('/projects', another)).status).toBe(201)
    refusedAt(limits.projects, await ada.post('/projects', { ...another, name: 'more' }))
    const page = await ada.form('/projects', { name: 'more', repository_url: repositoryUrl })
    expect(page.status).toBe(409)
    expect(page.text).toContain('which is the most')
    expect((await bob.post('/projects', another)).status).toBe(201)

    many(t, limits.environments - limits.projects - 1, (i) =>
      insertEnvironment(t.db, { projectId: project.id, name: `e${i}`, hostPort: 3000 + i }),
    )
    const path = `/projects/${project.id}/envs`
    expect((await ada.post(path, { name: 'last' })).status).toBe(201)
    refusedAt(limits.environments, await ada.post(path, { name: 'more' }))
  })

  test('variables of an environment, nor all of a .env file that has more', async () => {
    const { t, ada, environment } = await setUp()
    many(t, limits.variables - 1, (i) =>
      insertVariable(t.db, t.secrets, {
        environmentId: environment.id,
        key: `K${i}`,
        value: '',
        secret: false,
        buildTime: false,
      }),
    )
    const path = `/envs/${environment.id}/variables`
    const dotenv = 'K1=known\nMORE=1\nAND_MORE=2\n'
    refusedAt(limits.variables, await ada.post(path, { dotenv }))
    expect((await ada.get(`${path}?limit=500`)).json.items).toHaveLength(limits.variables - 1)
    expect((await ada.post(path, { dotenv: 'K1=known\nMORE=1\n' })).status).toBe(201)
    refusedAt(limits.variables, await ada.post(path, { key: 'Z', value: '' }))
    const endless = Array.from({ length: 50_000 }, (_, i) => `A${i}=`).join('\n')
    refusedAt(limits.variables, await ada.post(path, { dotenv: endless }))
  })

  test('waiting deployments; what is pushed is never turned away', async () => {
    const { t, ada, project, ownerId } = await setUp()
    many(t, limits.deployments, (i) => {
      const { id } = insertEnvironment(t.db, {
        projectId: project.id,
        name: `e${i}`,
        hostPort: 3000 + i,
      })
      insertDeployment(t.db, {
        projectId: project.id,
        environmentId: id,
        trigger: 'manual',
        triggeredBy: ownerId,
        repositoryUrl,
      })
    })
    const refused = await ada.post(`/projects/${project.id}/deployments`)
    refusedAt(limits.deployments, refused, 429)
    expect(refused.headers.get('Retry-After')).toBe('60')
    const stored = (await ada.get(`/projects/${project.id}/deployments?limit=500`)).json
    expect(stored.items).toHaveLength(limits.deployments)
    const pushed = t.queue.trigger({
      project: findProject(t.db, { id: project.id, ownerId }),
      trigger: 'webhook',
      triggeredBy: 'github',
    })
    expect(pushed.status).toBe('pending')
  })

  test('deployments for one environment wait at once: it is one, however many were asked for', async () => {
    const { ada, project } = await setUp()
    for (let i = 0; i < 20; i++)
      expect((await ada.post(`/projects/${project.id}/deployments`)).status).toBe(201)
    const { json } = await ada.get(`/projects/${project.id}/deployments?limit=500`)
    const waiting = json.items.filter((one: { status: string }) => one.status === 'pending')
    expect(waiting).toHaveLength(1)
    expect(waiting[0].id).toBe(json.items[0].id)
  })

  test('services', async () => {
    const { t, ada, ownerId } = await setUp()
    many(t, limits.services, (i) =>
      insertService(
        t.db,
        {
          ownerId,
          name: `s${i}`,
          template: 'compose',
          version: '',
          status: 'stopped',
          compose: 'services: {a: {image: busybox}}',
          values: '',
        },
        [],
      ),
    )
    refusedAt(limits.services, await ada.post('/services/redis', { name: 'more' }))
    const compose = 'services: {a: {image: busybox}}'
    refusedAt(limits.services, await ada.post('/services/compose', { name: 'more', compose }))
  })

  test('API tokens, and open invitations', async () => {
    const { t, ada, ownerId } = await setUp()
    const wanted = { name: 'ci', scopes: ['read' as const], userId: ownerId }
    many(t, limits.tokens, () => makeToken(t.db, wanted))
    refusedAt(limits.tokens, await ada.post('/settings/tokens', { name: 'ci', scopes: ['read'] }))

    const deps = { db: t.db, config: { ...t.config, registration: 'invite' as const } }
    const admin = { ...ada.user, name: null, role: 'admin' as const }
    many(t, limits.invites, () => makeInvite(deps, admin))
    expect(() => makeInvite(deps, admin)).toThrow('which is the most')
  })

  test('git sources and registries', async () => {
    const { t, ada, ownerId } = await setUp()
    const server = startProviderServer('github')
    const { baseUrl } = server
    many(t, limits.sources, (i) =>
      insertSource(t.db, t.secrets, {
        ownerId,
        provider: 'github',
        name: `s${i}`,
        baseUrl,
        login: 'ada',
        token: 'x',
      }),
    )
    const refused = await addSource(ada, server, 'more').catch((error) => error.message)
    expect(refused).toContain('which is the most')
    server.stop()

    many(t, limits.registries, (i) =>
      insertRegistry(t.db, {
        ownerId,
        host: `r${i}.example.com`,
        username: 'ada',
        password: 'sealed',
      }),
    )
    const docker = { checkRegistry: async () => {} } as unknown as TestApp['docker']
    const input = { host: 'more.example.com', username: 'ada', password: 'x' }
    const asked = { ownerId, input, signal: new AbortController().signal }
    const error = await addRegistry({ ...t.deps, docker }, asked).catch((error) => error)
    expect(error).toMatchObject({ code: 'conflict' })
  })

  test('sessions: a login more ends the one that was seen longest ago', async () => {
    const { t } = await setUp()
    const password = 'correct horse battery'
    const visitor = { email: 'eve@example.com', password }
    const csrf = await csrfOf(t)
    const post = (path: string) =>
      t.app.request(path, {
        method: 'POST',
        body: JSON.stringify(visitor),
        headers: { ...csrf, Accept: 'application/json', 'Content-Type': 'application/json' },
      })
    t.db.$client.run('DELETE FROM users')
    expect((await post('/auth/register')).status).toBe(201)
    const { id: userId } = t.db.$client.query<{ id: string }, []>('SELECT id FROM users').get()!
    const now = Date.now()
    many(t, limits.sessions + 20, (i) =>
      insertSession(t.db, {
        userId,
        tokenHash: `hash ${i}`,
        userAgent: `browser ${i}`,
        address: '127.0.0.1',
        lastSeenAt: new Date(now - 60_000 - i),
        expiresAt: new Date(now + 3_600_000),
      }),
    )
    expect((await post('/auth/login')).status).toBe(200)
    const kept = listSessions(t.db, userId)
    expect(kept).toHaveLength(limits.sessions)
    expect(kept.map(({ userAgent }) => userAgent)).toContain('browser 0')
    expect(kept.map(({ userAgent }) => userAgent)).not.toContain('browser 119')
  })
})

/** What a first visit gives, to be sent with a form. */
async function csrfOf(t: TestApp) {
  const response = await t.app.request('/login')
  const cookie = response.headers.getSetCookie().find((line) => line.startsWith('svc_csrf='))!
  const pair = cookie.split(';')[0]!
  return { Cookie: pair, 'X-CSRF-Token': pair.slice('svc_csrf='.length) }
}
