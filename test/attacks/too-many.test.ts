import { describe, expect, test } from 'bun:test'
import { makeToken } from '../../src/accounts/token-store.ts'
import { makeInvite } from '../../src/accounts/invite-store.ts'
import { insertSession, listSessions } from '../../src/accounts/store.ts'
import { channels, registries } from '../../src/db/schema.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { insertWaiting } from '../../src/deployments/waiting-store.ts'
import { insertEnvironment } from '../../src/environments/store.ts'
import { insertVariable } from '../../src/environments/variable-store.ts'
import { gitSource } from '../../src/git/git-source.tsx'
import { insertOwned } from '../../src/resources/store.ts'
import { limits } from '../../src/platform/limits.ts'
import { insertProject } from '../../src/projects/store.ts'
import { insertService } from '../../src/services/store.ts'
import { addSource } from '../git/source.ts'
import { storedLines } from '../logs/stored-lines.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { withContainer } from '../deployments/apps.ts'
import { aPush, secret, sent } from '../webhooks/senders.ts'

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
  expect(answer.json.detail).toContain('the maximum')
}

async function setUp() {
  const t = testApp({}, { jobsWait: true })
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
    expect(page.text).toContain('the maximum')
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

  test('waiting deployments; a push beyond them is kept, answered with the reason, and deployed later', async () => {
    const { t, ada, project, ownerId } = await setUp()
    many(t, limits.deployments, (i) => {
      const { id } = insertEnvironment(t.db, {
        projectId: project.id,
        name: `e${i}`,
        branch: 'other',
        hostPort: 3000 + i,
      })
      insertWaiting(t.db, {
        ownerId: ada.user.id,
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
    const another = { name: 'more', repositoryUrl, deploy: true }
    refusedAt(limits.deployments, await ada.post('/projects', another), 429)
    expect((await ada.get('/projects')).json.items).toHaveLength(1) // it isn't created either
    const stored = (await ada.get(`/projects/${project.id}/deployments?limit=500`)).json
    expect(stored.items).toHaveLength(limits.deployments)
    await ada.put(`/projects/${project.id}/settings`, { webhookSecret: secret })
    const { status, json } = await push()
    expect([status, json.deployments]).toEqual([200, []])
    expect(json.reason).toContain(`Not deployed to production: You have ${limits.deployments} `)
    const [delivery] = (await ada.get(`/projects/${project.id}/deliveries`)).json.items
    expect(delivery).toMatchObject({ decision: 'ignored', reason: json.reason })
    const replay = () => ada.post(`/projects/${project.id}/deliveries/${delivery.id}/replay`)
    refusedAt(limits.deployments, await replay(), 429)

    const [waiting] = stored.items
    const again = { environmentId: waiting.environmentId }
    expect((await ada.post(`/projects/${project.id}/deployments`, again)).status).toBe(201) // in its place
    const path = `/projects/${project.id}/deployments/${stored.items[1].id}`
    expect((await ada.post(`${path}/cancel`)).status).toBe(200)
    expect((await replay()).status).toBe(201)
    expect((await push()).status).toBe(202) // in the place of the one that waits there by now

    async function push() {
      const repository = { full_name: 'team/site', clone_url: repositoryUrl }
      const { path, headers, body } = sent.github(aPush({ repository }))
      const answer = await t.app.request(path, { method: 'POST', headers, body })
      return { status: answer.status, json: (await answer.json()) as any }
    }
  })

  test('deployments that never began: the oldest of an environment go', async () => {
    const { t, ada, project, environment } = await setUp()
    const environmentId = environment.id
    const neverBegun = { status: 'superseded', finishedAt: new Date() } as const
    const asked = { trigger: 'webhook', triggeredBy: 'gordon', repositoryUrl } as const
    const insert = (more: object) =>
      insertDeployment(t.db, { projectId: project.id, environmentId, ...asked, ...more })
    const ran = withContainer(t.db, insert({ status: 'superseded' }), 'c')
    const oldest = insert(neverBegun)
    many(t, 510, () => insert(neverBegun))
    const log = { sourceId: environmentId, logId: oldest.id }
    t.logs.write(log, [{ time: 0, stream: 'system', text: 'old' }])
    const newest = (await ada.post(`/projects/${project.id}/deployments`)).json

    const count = (sql: string) =>
      t.db.$client.query<{ n: number }, []>(`SELECT count(*) n FROM ${sql}`).get()!.n
    expect(
      count("deployments WHERE status = 'superseded' AND id <> (SELECT id FROM releases)"),
    ).toBe(500)
    const kept = t.db.$client.query<{ id: string }, []>('SELECT id FROM deployments').all()
    const ids = kept.map(({ id }) => id)
    expect([ran.id, oldest.id, newest.id].map((id) => ids.includes(id))).toEqual([
      true,
      false,
      true,
    ])
    expect(storedLines(t.logDb, log)).toEqual([])
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

    const deps = { ...t.deps, config: { ...t.config, registration: 'invite' as const } }
    const admin = { createdBy: ada.user.id }
    many(t, limits.invites, () => makeInvite(deps, admin))
    expect(() => makeInvite(deps, admin)).toThrow('the maximum')
  })

  test('git sources and registries', async () => {
    const { t, ada, ownerId } = await setUp()
    const server = startProviderServer('github')
    const { baseUrl } = server
    many(t, limits.sources, (i) =>
      insertOwned(t, gitSource, {
        ownerId,
        values: { provider: 'github', name: `s${i}`, baseUrl, login: 'ada', accessToken: 'x' },
      }),
    )
    const refused = await addSource(ada, server, 'more').catch((error) => error.message)
    expect(refused).toContain('the maximum')
    server.stop()

    many(t, limits.registries, (i) => {
      const login = { host: `r${i}.example.com`, username: 'ada', password: 'sealed' }
      t.db
        .insert(registries)
        .values({ ownerId, ...login })
        .run()
    })
    t.faults.checkRegistry = () => Promise.resolve()
    const more = { host: 'more.example.com', username: 'ada', password: 'x' }
    refusedAt(limits.registries, await ada.post('/settings/registries', more))

    many(t, limits.channels, (i) => {
      const chat = { kind: 'browser', name: `${i}`, events: ['unhealthy'] } as const
      t.db
        .insert(channels)
        .values({ ownerId, ...chat, events: [...chat.events] })
        .run()
    })
    const another = { kind: 'browser', name: 'x', events: ['unhealthy'] }
    refusedAt(limits.channels, await ada.post('/settings/channels', another))
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
  const Cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  return { Cookie, 'X-CSRF-Token': /svc_csrf=([^;]+)/.exec(Cookie)![1]! }
}
