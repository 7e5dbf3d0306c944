import { expect, test } from 'bun:test'
import { makeToken } from '../../src/accounts/make-token.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { asToken } from '../accounts/visitor.ts'
import { testApp } from '../support/app.ts'
import { everything } from '../support/everything.ts'
import { addressOf, routesOf } from './walk.ts'

/** Every address that answers with a stream. */
const streams = [
  'GET /containers/events',
  'GET /containers/:id/logs',
  'GET /containers/:id/stats',
  'GET /projects/:id/deployments/:deploymentId/logs',
  'GET /projects/:id/envs/:envId/output/stream',
  'GET /services/:id{[a-f0-9-]{36}}/events',
  'GET /services/:id{[a-f0-9-]{36}}/output/stream',
]

test('every stream ends soon after the login that opened it', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  const ids = await everything(t, ada)
  await t.docker.startContainer(ids.container)
  const { id: deployment } = insertDeployment(t.db, {
    projectId: ids.project,
    environmentId: ids.environment,
    trigger: 'manual',
    triggeredBy: ada.user.email,
    repositoryUrl: 'https://git.example.com/team/site.git', // nobody wakes the queue: it waits
  })
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
  let ended = 0
  for (const route of routesOf(t))
    for (const [kind, read] of Object.entries(readers)) {
      if (route.method !== 'GET') continue
      const answer = await read(addressOf(route, { ...ids, deployment }))
      const isStream = answer.headers.get('Content-Type')?.includes('event-stream')
      expect(isStream ?? false, `${route.route} by a ${kind}`).toBe(streams.includes(route.route))
      if (!isStream) await answer.body?.cancel()
      else
        open.push({
          what: `${route.route} by a ${kind}`,
          reading: answer.text().then(() => ended++),
        })
    }
  expect(open).toHaveLength(streams.length * 2)
  expect(ended).toBe(0)
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
