import { expect, test } from 'bun:test'
import { newId } from '../../src/db/new-id.ts'
import { connectDocker, freeAddress, freeSubnet } from '../../src/docker/index.ts'
import { insertRelease } from '../../src/runtime/store.ts'
import { simulatedApp, testApp, withAda, withRoot } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { until } from '../support/until.ts'
import { anOwn, aRunning, aStranger, listen, sooner } from './engine.ts'

const statusOf = async (client: TestClient, { projectId, id }: { projectId: string; id: string }) =>
  (await client.get(`/projects/${projectId}/deployments/${id}`)).json.status

const recorded = (t: TestApp) =>
  t.db.$client.query('SELECT action, object_kind, object_id, actor FROM audit_events').all()

test('who stops an app stops its deployment, and who restarts it has it running again', async () => {
  const { t, ada } = withAda(simulatedApp())
  listen(t)
  const { id, deployment } = await aRunning(t, ada)

  const stopped = await ada.post(`/containers/${id}/stop`)
  expect(stopped).toMatchObject({ status: 200, json: { id, state: 'exited' } })
  await sooner(t, async () => (await statusOf(ada, deployment)) === 'stopped')
  expect((await ada.page(`/containers/${id}`)).text).toContain(
    'Start restarts this container unchanged',
  )

  const restarted = await ada.post(`/containers/${id}/restart`)
  expect(restarted).toMatchObject({ status: 200, json: { id, state: 'running' } })
  await sooner(t, async () => (await statusOf(ada, deployment)) === 'running')

  const before = (await t.docker.inspectContainer(id))!.startedAt
  expect((await ada.post(`/containers/${id}/restart`)).status).toBe(200)
  expect((await t.docker.inspectContainer(id))!.startedAt).not.toEqual(before)

  const about = { object_kind: 'container', object_id: id, actor: 'ada@example.com' }
  expect(recorded(t)).toMatchObject([
    { action: 'project.created' },
    { action: 'container.stopped', ...about },
    { action: 'container.restarted', ...about },
    { action: 'container.restarted', ...about },
  ])
})

test('what does not run can’t be stopped, and nothing is recorded', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await anOwn(t, ada, 'exit 0')
  const answer = await ada.post(`/containers/${id}/stop`)
  expect(answer.status).toBe(409)
  expect(answer.json.detail).toContain('created')
  expect(recorded(t)).toHaveLength(1)
})

test('a start that the engine refuses is reported in its words', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await anOwn(t, ada, '', { command: ['/no/such'], init: false })
  const answer = await ada.post(`/containers/${id}/restart`)
  expect(answer.status).toBe(409)
  expect(answer.json.detail).toContain('/no/such')
  expect((await ada.page(`/containers/${id}`)).text).toContain('Docker couldn’t start it')
})

test('a start whose address another container has by now says so', async () => {
  const { t, root } = withRoot(simulatedApp())
  const used = await t.docker.usedSubnets()
  const subnet = freeSubnet({ pool: '10.245.0.0/16', prefix: 28, used })
  const network = `taken-${Bun.randomUUIDv7()}`
  await t.docker.createNetwork({ name: network, subnet })
  const at = { network, address: freeAddress({ subnet, used: new Set(), last: null })! }
  const [id, other] = [await aStranger(t, 'sleep 99', at), await aStranger(t, 'sleep 99', at)]
  await t.docker.startContainer(other)
  const answer = await root.post(`/containers/${id}/restart`)
  expect(answer.status).toBe(409)
  expect(answer.json.detail).toContain('another container is using its address')
  await t.docker.removeContainer(other, { force: true })
  await t.docker.removeNetwork(network)
})

test('while a deployment switches the containers of an environment they are left to it', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id, environment } = await aRunning(t, ada)
  const workload = { id: environment.id, kind: 'app' } as const
  insertRelease(t.db, {
    workload,
    id: newId(),
    components: null,
    slots: [{ component: 'web', slot: 0 }],
  })
  for (const verb of ['stop', 'restart'])
    expect((await ada.post(`/containers/${id}/${verb}`)).status).toBe(409)
  expect(await t.docker.inspectContainer(id)).toMatchObject({ state: 'running' })
})

test('an admin stops and starts what is not Davit’s; the page asks before', async () => {
  const { t, root } = withRoot(simulatedApp())
  const id = await aStranger(t, 'sleep 999')
  await t.docker.startContainer(id)
  const { text } = await root.page(`/containers/${id}`)
  expect(text).toContain('isn’t managed by Davit')
  const question = /name="_question" value="([^"]+)"/.exec(text)![1]!
  const answer = /name="_answer" value="(Stop [^"]+)"/.exec(text)![1]!
  const fields = { _question: question, _answer: answer }
  const asked = await root.form(`/containers/${id}/stop`, fields)
  expect([asked.status, asked.text]).toEqual([200, expect.stringContaining(question)])
  expect(asked.text.replace(/\s*([<>])\s*/g, '$1')).toContain(`>${answer}</button>`)
  expect((await t.docker.inspectContainer(id))!.state).toBe('running')
  expect((await root.post(`/containers/${id}/stop`)).json.state).toBe('exited')
  expect((await root.post(`/containers/${id}/restart`)).json.state).toBe('running')
})

test('a browser is sent to the container’s page, htmx gets the updated fragment', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id } = await aRunning(t, ada)
  const browser = await ada.form(`/containers/${id}/stop`, {})
  expect(browser.status).toBe(303)
  expect(browser.headers.get('Location')).toBe(`/containers/${id}`)

  const fromPage = await ada.htmx('POST', `/containers/${id}/restart`)
  expect(fromPage.text).toStartWith('<section id="container-status"')
  const response = await ada.send(`/containers/${id}/stop`, {
    method: 'POST',
    headers: { Accept: 'text/html', 'HX-Request': 'true', 'HX-Target': `li#c${id.slice(0, 12)}` },
  })
  expect(await response.text()).toStartWith(
    `<li class="row container-row" id="c${id.slice(0, 12)}"`,
  )
})

test('a stop that takes long is answered 202 with where to look, and goes on', async () => {
  const { t, ada } = withAda(testApp({}, { config: { acceptTimeout: 100 } }))
  const { id } = await aRunning(t, ada, "trap '' TERM; echo trapped; while :; do sleep 1; done", {
    stopTimeout: 3,
  })
  await until(async () => {
    for await (const entries of t.docker.logSnapshot(id, { tty: false, tail: 1 }))
      return entries[0]!.text === 'trapped'
    return false
  })
  const answer = await ada.post(`/containers/${id}/stop`)
  expect(answer).toMatchObject({ status: 202, json: { state: 'running' } })
  expect(answer.headers.get('Location')).toBe(`/containers/${id}`)
  expect(await t.docker.waitForExit(id)).toEqual({ exitCode: 137 })
})

test('without an engine every address says that, and how to get it back', async () => {
  const { t, ada } = withAda(testApp())
  const id = 'a'.repeat(64)
  Object.assign(t.faults, connectDocker({ host: 'unix:///no/such.sock' }))
  const answers = [
    await ada.get('/containers'),
    await ada.get('/containers/api'),
    await ada.get(`/containers/${id}`),
    await ada.post(`/containers/${id}/stop`),
    await ada.post(`/containers/${id}/restart`),
  ]
  for (const { status, json } of answers) {
    expect(status).toBe(503)
    expect(json.detail).toContain('can’t be reached')
  }
})

test('a token that may only read or deploy stops nothing', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id } = await aRunning(t, ada)
  for (const scope of ['read', 'deploy', 'write']) {
    const { token } = (await ada.post('/settings/tokens', { name: scope, scopes: [scope] })).json
    const headers = { Authorization: `Bearer ${token}` }
    const stop = await t.app.request(`/containers/${id}/stop`, { method: 'POST', headers })
    expect(stop.status, scope).toBe(scope === 'write' ? 200 : 403)
    expect((await t.app.request('/containers/api', { headers })).status).toBe(200)
  }
})
