import { backedUp, backUps, slowRestic } from './back-ups.ts'
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { eq } from 'drizzle-orm'
import { callsOf } from '../../src/api/calls.ts'
import { deliveries, deployments, runs } from '../../src/db/schema.ts'
import { findDeployment, logOf } from '../../src/deployments/store.ts'
import { hasJob } from '../../src/jobs/store.ts'
import { tarOf } from '../git/tars.ts'
import { addSource, token } from '../git/source.ts'
import { twoItems } from '../containers/engine.ts'
import { made } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { everything, fill, idOf } from '../support/everything.ts'
import type { Ids } from '../support/everything.ts'
import { makeRepository, startGitServer } from '../support/git-server.ts'
import { answered, comparison, readDocument } from '../support/openapi.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { until } from '../support/until.ts'
import { startingForever, stuckDeployment, whileHeld, withPromotable } from './under-way.ts'
import { aPush } from '../webhooks/senders.ts'
import { connect, resetByMail } from './connect.ts'
import { changeDrains } from './drains.ts'
import { changeSchedules, keepWatched } from './environment.ts'
import { receive } from './receive.ts'
import { joinable, joinAndLeave, ownServer } from './servers.ts'

const provider = startProviderServer('github')
const repository = provider.add({
  fullName: 'team/site',
  tags: [{ name: 'v1', commit: 'b'.repeat(40) }],
})
const silent = startGitServer('/')
silent.mode = 'hang'
const lookedAt = makeRepository(mkdtempSync('/tmp/davit-answers-'), 'app.git')
afterAll(() => {
  rmSync(lookedAt, { recursive: true, force: true })
  provider.stop()
  silent.stop()
})

const config = { clusterAddress: '10.0.0.1' }
const password = 'correct horse battery staple'
const repositoryUrl = 'https://git.example.com/team/other.git'
const compose = `services:
  web:
    image: busybox
    init: true
    command: [sh, -c, 'echo started; exec sleep 999']
    environment: {GREETING: '\${GREETING:-hello}'}
    volumes: ['/etc/hostname:/host:ro']
    stop_grace_period: 1s
`
const allowed = ['web host_path /etc/hostname']

const push = { ...aPush({ after: 'c'.repeat(40) }), ref: 'refs/heads/main', paths: null }

type Step = {
  body?: object | string
  /** Of its address, where the route's name does not say it. */
  id?: keyof Ids
  path?: string
  client?: TestClient
  headers?: Record<string, string>
}

test('every answer is what the document says, and every body that it takes', async () => {
  const t: TestApp = testApp(
    {
      DAVIT_REGISTRATION: 'invite',
      DAVIT_URL: 'http://davit.example.net',
      DAVIT_OAUTH_PROVIDER: 'github',
      DAVIT_OAUTH_CLIENT_ID: 'davit',
      DAVIT_OAUTH_CLIENT_SECRET: 'hush',
    },
    { config, openRestic: slowRestic(), ...joinable(() => t) },
  )
  t.deps.git.listRefs = async () => `${'a'.repeat(40)}\trefs/heads/main\n` // its provider has no git
  const ada = t.logInAsAdmin('ada@example.com')
  const { bodyErrors, answerErrors } = comparison(await readDocument(ada))
  const ids = await inUse(t, ada)
  const left = new Map(callsOf(t.app.routes).map((call) => [`${call.method} ${call.path}`, call]))

  for (const [route, { method, operation, path }] of left) {
    if (method !== 'GET') continue
    const address = `${fill(path, ids, idOf(path))}?${new URLSearchParams(asked[path]?.(ids))}`
    if (200 in operation.answers || operation.texts) await call(route, { path: address })
    if (operation.event) await call(route, { path: `${address}&format=json` })
    if (operation.file) await call(route, { path: `${address}&download=1` })
  }
  await change(call, t, { ids, ada })
  await receive(call, ada)
  expect([...left.keys()]).toEqual([])

  async function call(
    route: string,
    { body, client = ada, path, id, headers }: Step = {},
  ): Promise<any> {
    const [method = '', pattern = ''] = route.split(' ')
    const response = await client.send(path ?? fill(pattern, ids, id ?? idOf(pattern)), {
      method,
      headers: { Accept: 'application/json', 'Content-Type': 'application/json', ...headers },
      ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const answer = await answered(response)
    expect({ route, ...answer, isOk: response.ok }).toEqual({ route, ...answer, isOk: true })
    expect(answerErrors(route, answer), route).toEqual([])
    if (typeof body === 'object') expect(bodyErrors(route, body), route).toEqual([])
    if (method === 'GET') expect(isEmptyList(answer.body) && route).toBe(false)
    left.delete(route)
    return answer.body
  }
}, 120_000)

const isEmptyList = (body: unknown) => JSON.stringify(body).startsWith('{"items":[]')

type Call = (route: string, step?: Step) => Promise<any>

/** What queries are asked, where there must be one. */
const asked: Record<string, (ids: Ids) => Record<string, string>> = {
  '/settings/events': () => ({ after: '00000000-0000-0000-0000-000000000000' }),
  '/api/git/repos': ({ source }) => ({ sourceId: source }),
  '/api/git/look': () => ({ repositoryUrl: lookedAt }),
  '/projects/:id/watched-files': () => ({ watchPaths: 'src/**' }),
  '/api/git/branches': ({ source }) => ({ sourceId: source, repository: 'team/site' }),
}

async function change(call: Call, t: TestApp, { ids, ada }: { ids: Ids; ada: TestClient }) {
  const { project, environment, deployment } = ids
  await call('POST /projects', { body: { name: 'new', repositoryUrl, branch: null } })
  await call('PUT /projects/:id', { body: { branch: 'main' } })
  await call('PUT /projects/:id/settings', { body: { buildArgs: { A: 'b' }, webhookSecret: null } })
  await call('POST /projects/:id/webhook')
  await call('DELETE /projects/:id/webhook')
  await call('POST /projects/:id/webhook-secret')
  const form = await ada.form('/projects', { name: 'of a form', repository_url: repositoryUrl })
  const path = `${form.headers.get('Location')}/webhook-secret/show`
  await call('POST /projects/:id/webhook-secret/show', { path })
  await call('POST /projects/:id/envs', { body: { name: 'third', cpus: 0.5, domains: ['a.test'] } })
  await call('PUT /projects/:id/envs/:envId', { body: { port: 8080, healthPath: null } })
  await call('POST /envs/:envId/variables', { body: { key: 'A', value: 'b', secret: true } })
  await call('POST /envs/:envId/variables', { body: { dotenv: 'B=c' } })
  await call('PUT /envs/:envId/variables/:id', { body: { buildTime: true } })
  await call('DELETE /envs/:envId/variables/:id')
  await call('PUT /envs/:envId/variables', { body: { text: 'A=b' } })
  await call('PUT /envs/:envId/links/:id', { body: { variables: { SITE: 'host' } } })
  await call('DELETE /envs/:envId/links/:id')
  await call('POST /envs/:envId/links', { body: { serviceId: ids.service } })
  const login = { username: 'ada', password: 'x' }
  await call('POST /envs/:envId/domains', { body: { host: 'b.test', basicAuth: [login] } })
  await call('POST /services/:id/domains', { body: { host: 'c.test', target: 'web:80' } })
  await call('PUT /domains/:id', { body: { headers: { 'X-A': 'b' }, allowIps: ['10.0.0.0/8'] } })
  await call('POST /domains/:id/check')
  await call('DELETE /domains/:id')

  const live = { status: 'running', image: 'busybox:latest' } as const
  t.db.update(deployments).set(live).where(eq(deployments.id, deployment)).run()
  await keepWatched(call, t, ids)
  const waits = { command: ['sh', '-c', 'exit 3'], timeout: 60, attach: true }
  const { id: run } = await call('POST /envs/:envId/runs', { body: waits })
  const cancel = { path: `/envs/${environment}/runs/${run}/cancel` }
  await call('POST /envs/:envId/runs/:id/cancel', cancel)
  const { id: another } = await call('POST /envs/:envId/runs', { body: waits })
  await call('POST /settings/activity/runs/:id/cancel', {
    path: `/settings/activity/runs/${another}/cancel`,
  })
  await changeSchedules(call, t)
  await changeDrains(call, ids)
  await backUps(call, t, ids)
  for (const verb of ['stop', 'start']) await call(`POST /envs/:envId/${verb}`)
  await whileHeld(t, 'stopContainer', {
    begin: () => call('POST /envs/:envId/restart'),
    end: () =>
      call('POST /settings/activity/environments/:id/cancel', {
        path: `/settings/activity/environments/${environment}/cancel`,
      }),
  })
  await call('POST /containers/:id/restart')
  await call('POST /containers/:id/stop')

  const promoted = await call('POST /projects/:id/envs/:envId/promote')
  await ada.post(`/projects/${project}/deployments/${promoted.id}/cancel`)
  const body = { environmentId: environment }
  const started = await call('POST /projects/:id/deployments', { body })
  await call('POST /projects/:id/deployments/:deploymentId/cancel', {
    path: `/projects/${project}/deployments/${started.id}/cancel`,
  })
  await call('POST /projects/:id/deploy')
  const { token: limited } = await call('POST /settings/tokens', {
    body: { name: 'pipeline', scopes: ['deploy'], projectId: project },
  })
  await call('POST /hooks/deploy', {
    headers: { Authorization: `Bearer ${limited}` },
    body,
  })
  const laptop = { name: 'laptop', scopes: ['write'] }
  const { token: whole } = await call('POST /settings/tokens', { body: laptop })
  const headers = { Authorization: `Bearer ${whole}` }
  await call('POST /projects/:id/uploads', { headers, body: tarOf({ a: '' }).toString('latin1') })
  t.db.update(deployments).set({ image: 'busybox' }).where(eq(deployments.id, deployment)).run()
  await call('POST /projects/:id/deployments/:deploymentId/rollback')
  t.db.update(deliveries).set({ push }).where(eq(deliveries.id, ids.delivery)).run()
  await call('POST /projects/:id/deliveries/:deliveryId/replay')

  const named = { name: 'other', allowed: [] }
  await call('POST /services/:template', { body: { name: 'one', REDIS_PASSWORD: 'x'.repeat(20) } })
  await call('POST /services', { body: { ...named, name: 'more', template: 'redis' } })
  await call('POST /services/deploy', { body: { ...named, name: 'most', template: 'redis' } })
  await call('POST /services/compose/configure', { body: { compose } })
  await call('POST /services/compose', { body: { name: 'own', compose, allowed } })
  await call('PUT /services/:id', { body: { GREETING: 'bye', preview: true } })
  await call('PUT /services/:id', { body: { name: 'renamed' } })
  await call('POST /services/:id/restart')
  await until(() => !hasJob(t.db, ids.service!))
  await call('POST /services/:id/stop')
  const starting = await startingForever(ada, 'starting')
  await call('POST /services/:id/cancel', { path: `/services/${starting}/cancel` })
  await call('PUT /settings/grants/:id', { id: 'service', body: { granted: true } })

  const { baseUrl } = provider
  await connect(call, { git: { provider: 'github', baseUrl, accessToken: token }, ids })

  await administer(call, t, { ada, ids })
  await call('DELETE /services/:id', { path: `/services/${ids.service}?volumes=true&force=true` })
  await call('DELETE /projects/:id/envs/:envId')
  await call('DELETE /projects/:id')
}

async function administer(call: Call, t: TestApp, { ada, ids }: { ada: TestClient; ids: Ids }) {
  const stuck = await stuckDeployment(ada, { name: 'stuck again', server: silent })
  await call('POST /settings/activity/deployments/:id/cancel', {
    path: `/settings/activity/deployments/${stuck.id}/cancel`,
  })
  const starting = await startingForever(ada, 'also starting')
  await call('POST /settings/activity/services/:id/cancel', {
    path: `/settings/activity/services/${starting}/cancel`,
  })
  await call('POST /settings/prune', { body: { what: ['containers'], dryRun: true } })
  const items = await twoItems(t)
  await whileHeld(t, 'removeContainer', {
    begin: () => call('POST /settings/prune', { body: { what: ['containers'], items } }),
    end: () => call('POST /settings/activity/clean-up/cancel'),
  })
  await call('PUT /settings/prune/schedule', { body: { enabled: true, hour: 5 } })

  const { items: invites } = (await ada.get('/settings/invites')).json
  await call('DELETE /settings/invites/:id', { path: `/settings/invites/${invites[0].id}` })
  const client = t.logIn('bob@example.com')
  await joinAndLeave(call, { t, ada, ids, client })
  const invite = new URL((await call('POST /settings/invites')).url).searchParams.get('invite')
  const bob = { email: 'new@example.com', password }
  const user = await call('POST /auth/register', { client, body: { ...bob, invite } })
  await call('POST /auth/login', { client, body: bob })
  const device = await call('POST /auth/device', { client, body: { name: 'new@laptop' } })
  await call('POST /settings/device', { body: { code: device.code, answer: 'allow', password } })
  await call('POST /auth/device/token', { client, body: { secret: device.secret } })
  await resetByMail(call, t, { client, user })
  await call('PUT /settings/users/:id', {
    path: `/settings/users/${user.id}`,
    body: { disabled: true },
  })
  await call('DELETE /settings/users/:id', { path: `/settings/users/${user.id}` })
  await call('PUT /settings/profile', { body: { name: 'Ada' } })
  await call('POST /settings/tokens', {
    body: { name: 'ci', scopes: ['deploy'], expiresInDays: 7 },
  })
  await call('DELETE /settings/tokens/:id')
  await call('DELETE /settings/sessions/:id')
  await call('DELETE /settings/sessions')
  await call('POST /settings/identities', { body: {} })
  await call('PUT /settings/password', { body: { password } })
  await call('DELETE /settings/identities/:id')
}

/** Everything of a user, with a provider that answers, containers that run, and lines of logs. */
async function inUse(t: TestApp, ada: TestClient): Promise<Ids> {
  const ids = await everything(t, ada)
  ownServer(t)
  await withPromotable(t, ada, ids)
  const line = { time: Date.now(), stream: 'stdout', text: 'hello' } as const
  const deployment = findDeployment(t.db, { id: ids.deployment, projectId: ids.project })
  t.logs.write(logOf(deployment), [line])
  t.logs.write({ sourceId: ids.environment, logId: ids.run }, [line])
  t.db.update(runs).set({ status: 'running' }).run()
  const { name: container } = (await t.docker.inspectContainer(ids.container))!
  const origin = { deploymentId: deployment.id, container, process: 'web', replica: null }
  await t.docker.startContainer(ids.container)
  const source = await addSource(ada, provider, 'provider')
  await ada.put(`/projects/${ids.project}`, { sourceId: source, repository: repository.fullName })
  const service = await made(t, ada, compose, { name: 'web', allowed })
  for (const sourceId of [ids.environment, service.id])
    t.logs.write({ sourceId, logId: '' }, [{ ...line, origin }])
  await ada.post(`/services/${service.id}/domains`, { host: 'web.test', target: 'web:80' })
  const backup = await backedUp(t, ada, { ...ids, service: service.id })
  const { json: invite } = await ada.post('/settings/invites')
  await stuckDeployment(ada, { name: 'stuck', server: silent })
  return { ...ids, source, service: service.id, backup, invite: invite.id }
}
