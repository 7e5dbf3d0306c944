import { describe, expect, test } from 'bun:test'
import { makeToken } from '../../src/accounts/token-store.ts'
import { setBackup } from '../../src/backups/store.ts'
import { insertJob } from '../../src/jobs/store.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { insertRun } from '../../src/runs/store.ts'
import { asToken } from '../accounts/visitor.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { Answer, TestClient } from '../support/client.ts'
import { everything } from '../support/everything.ts'
import { addressOf, routesOf } from './walk.ts'
import type { Route } from './walk.ts'

/** Every address that answers with a stream. */
const streams = [
  'GET /backups/:id/logs',
  'GET /containers/:id/logs',
  'GET /containers/:id/stats',
  'GET /envs/:envId/runs/:id/logs',
  'GET /live',
  'GET /projects/:id/deployments/:deploymentId/logs',
  'GET /projects/:id/envs/:envId/output/stream',
  'GET /services/:id{[a-f0-9-]{36}}/logs',
  'GET /services/:id{[a-f0-9-]{36}}/output/stream',
  'GET /settings/events/notices',
]

/** As many as all of them, twice. */
const manyStreams = { DAVIT_STREAMS_PER_USER: '100' }

/** Opens every stream for one who owns something of everything, with a session and with a token; asks `routes` for one. */
async function allStreams(t: TestApp, ada: TestClient, routes: Route[]) {
  const ids = await everything(t, ada)
  setBackup(t.db, ids.backup, { status: 'pending' })
  await t.docker.startContainer(ids.container)
  const { id: deployment } = insertDeployment(t.db, {
    projectId: ids.project,
    environmentId: ids.environment,
    trigger: 'manual',
    triggeredBy: ada.user.email,
    repositoryUrl: 'https://git.example.com/team/site.git', // nobody wakes the queue: it waits
  })
  const { id: run } = insertRun(t.db, {
    environmentId: ids.environment,
    deploymentId: ids.deployment,
    startedBy: ada.user.email,
    command: 'true',
    timeout: 60,
  })
  const ownerId = ada.user.id
  const job = insertJob(t.db, { kind: 'start', subjectId: ids.service, ownerId, slot: 'service' })
  const line = { time: Date.now(), stream: 'system', text: 'It begins.' } as const
  t.logs.write({ sourceId: ids.service, logId: job.id }, [line])
  const { token } = makeToken(t.db, {
    userId: ada.user.id,
    name: 'ci',
    scopes: ['read'],
    expiresInDays: null,
  })
  const headers = { Accept: 'text/event-stream' }
  const readers = {
    session: (path: string) => ada.send(path, { headers }),
    token: (path: string) => asToken(t.app, token)('GET', path, { headers }),
  }
  const open: { what: string; reading: Promise<unknown> }[] = []
  for (const route of routes)
    for (const [kind, read] of Object.entries(readers)) {
      if (route.method !== 'GET') continue
      const answer = await read(addressOf(route, { ...ids, deployment, run }))
      const isStream = answer.headers.get('Content-Type')?.includes('event-stream')
      expect(isStream ?? false, `${route.route} by a ${kind}`).toBe(streams.includes(route.route))
      if (!isStream) await answer.body?.cancel()
      else open.push({ what: `${route.route} by a ${kind}`, reading: answer.text() })
    }
  expect(open).toHaveLength(streams.length * 2)
  expect(t.streams.size).toBe(open.length)
  return open
}

test('every stream ends soon after another process ended the login that opened it', async () => {
  const t = testApp(manyStreams)
  const open = await allStreams(t, t.logInAsAdmin('ada@example.com'), routesOf(t))
  t.db.$client.run('DELETE FROM sessions')
  t.db.$client.run('DELETE FROM api_tokens')
  const from = performance.now()
  const late = open.map(async ({ what, reading }) => {
    await reading
    return performance.now() - from > 10_000 ? what : null
  })
  expect((await Promise.all(late)).filter((what) => what !== null)).toEqual([])
  expect(t.streams.size).toBe(0)
})

describe('every stream of a user has ended when the answer is there to an admin who', () => {
  const changes: [string, (t: TestApp, root: TestClient, id: string) => Promise<Answer>][] = [
    ['disables them', (_, root, id) => root.put(`/settings/users/${id}`, { disabled: true })],
    [
      'makes an admin a member',
      (_, root, id) => root.put(`/settings/users/${id}`, { role: 'member' }),
    ],
    ['deletes them', (_, root, id) => root.delete(`/settings/users/${id}`)],
  ]
  test.each(changes)('%s', async (_, change) => {
    const t = testApp(manyStreams)
    const [root, ada] = [t.logInAsAdmin(), t.logInAsAdmin('ada@example.com')]
    const routes = routesOf(t).filter(({ route }) => streams.includes(route)) // there are no others
    const open = await allStreams(t, ada, routes)
    const others = await root.send('/settings/events/notices', {
      headers: { Accept: 'text/event-stream' },
    })
    expect((await change(t, root, ada.user.id)).status).toBe(200)
    expect(t.streams.size).toBe(1) // that of the admin goes on
    await Promise.all(open.map(({ reading }) => reading))
    await others.body!.cancel()
  })
})

test('every stream of a session ends with the logout', async () => {
  const { t, ada } = withAda(testApp())
  const stream = await ada.send('/settings/events/notices', {
    headers: { Accept: 'text/event-stream' },
  })
  await ada.post('/auth/logout')
  expect(t.streams.size).toBe(0)
  await stream.text()
})

test('a stream of a container of others can’t be opened again by someone who is no longer an admin', async () => {
  const t = testApp()
  const [root, ada] = [t.logInAsAdmin(), t.logInAsAdmin('ada@example.com')]
  const ids = await everything(t, root)
  await t.docker.startContainer(ids.container)
  const headers = { Accept: 'text/event-stream' }
  const paths = [`/containers/${ids.container}/stats`, `/containers/${ids.container}/logs`]
  const read = (path: string) => ada.send(path, { headers })
  const open = await Promise.all(paths.map(read))
  expect(open.map(({ status }) => status)).toEqual([200, 200])
  await root.put(`/settings/users/${ada.user.id}`, { role: 'member' })
  await Promise.all(open.map((answer) => answer.text()))
  expect((await Promise.all(paths.map(read))).map(({ status }) => status)).toEqual([404, 404])
})
