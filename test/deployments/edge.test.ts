import { expect, test } from 'bun:test'
import { labelFilter } from '../../src/docker/labels.ts'
import { pages } from '../../src/edge/pages.ts'
import { listInstances } from '../../src/runtime/store.ts'
import { testApp } from '../support/app.ts'
import { TestClient } from '../support/client.ts'
import { until } from '../support/until.ts'
import { aCommand, anApp, answerOf, aProject, deployed, finished } from './apps.ts'
import { aSlowApp, edgeApp, letEnd, sharedEdge } from './edge-app.ts'
import { logs } from './events.ts'

const { t, ada, aSite } = await sharedEdge()

test('visitors notice neither a deployment nor one that fails, and what is open ends on the old version', async () => {
  const { host, project } = await aSite(aSlowApp('first'), { healthTimeout: 2 })
  expect(t.edge.upstreamsOf(project.environmentId)).toBe('missing')
  expect((await t.get(host)).status).toBe(503)
  const first = await project.deploy()
  expect(first.status).toBe('running')
  expect(first.url).toStartWith(`http://${host}:`) // until there is a certificate
  const { env } = (await t.docker.inspectContainer(first.containerId))!
  expect(env.join('\n')).toContain(`DAVIT_APP_URL=https://${host}:`)
  expect(await t.text(host)).toBe('first')
  expect(await t.docker.inspectContainer(first.containerId)).toMatchObject({ ports: [] })

  const open = await t.get(host, '/cgi-bin/slow')
  project.repository.commit(aSlowApp('second'))
  const { wrong } = await t.visited(host, ['first', 'second'], async () => {
    const second = await project.deploy()
    expect(second).toMatchObject({ status: 'running', downtimeMs: null })
    expect(await t.text(host)).toBe('second')
    // the old one isn't waited for
    expect(await t.docker.inspectContainer(first.containerId)).toMatchObject({ state: 'running' })
    expect((await project.deployFiles(aCommand('sleep 99'))).status).toBe('failed')
    expect(await t.text(host)).toBe('second')
    await letEnd(t, first.containerId)
    expect(await open.text()).toBe('begins in first\n')
    await until(
      async () => (await t.docker.inspectContainer(first.containerId))?.state === 'exited',
    )
  })
  expect(wrong).toEqual([])
  await t.instanceTasks.idle()
  const states = listInstances(t.db, project.environmentId).map(({ state }) => state)
  expect(states).toEqual(['standby', 'live'])
})

test('the health path is asked for the first domain, without one for localhost, or for the host that is set', async () => {
  const files = {
    ...aSlowApp('x'),
    'www/cgi-bin/slow': [
      '#!/bin/sh',
      'echo $HTTP_HOST >/www/host',
      "printf 'Content-Type: text/plain\\r\\n\\r\\n'",
    ].join('\n'),
  }
  const settings = { healthPath: '/cgi-bin/slow', domains: [] }
  const { host, project } = await aSite(files, settings)
  const deployment = await project.deploy()
  expect(await answerOf({ url: `${deployment.url}/host` })).toBe('localhost\n')
  await project.configure({ domains: [host, `second.${host}`] })
  await project.deploy()
  expect(await t.text(host, '/host')).toBe(`${host}\n`)
  await project.configure({ healthHost: 'api.internal' })
  await project.deploy()
  expect(await t.text(host, '/host')).toBe('api.internal\n')
})

test('a drain ends when its time is over', async () => {
  const { host, project } = await aSite(aSlowApp('first'), { drainSeconds: 1 })
  const first = await project.deploy()
  const open = await t.get(host, '/cgi-bin/slow')
  await project.deployFiles(aSlowApp('second'))
  await t.instanceTasks.idle()
  expect(await t.docker.inspectContainer(first.containerId)).toMatchObject({ state: 'exited' })
  await open.text().catch(() => {})
})

test('a deployment doesn’t wait for the version before it, but the one after that does', async () => {
  const { host, project } = await aSite(aSlowApp('1'))
  const first = await project.deploy()
  const open = [await t.get(host, '/cgi-bin/slow')]
  const second = await project.deployFiles(aSlowApp('2'))
  open.push(await t.get(host, '/cgi-bin/slow'))
  expect((await project.deployFiles(aSlowApp('3'))).status).toBe('running')

  project.repository.commit(aSlowApp('4'))
  const fourth = await project.trigger()
  await logs(ada, fourth, 'Waiting for open requests')
  expect(await t.text(host)).toBe('3')
  await letEnd(t, first.containerId)
  expect((await finished(ada, fourth)).status).toBe('running')
  expect(await t.docker.inspectContainer(second.containerId)).toMatchObject({ state: 'running' })
  await letEnd(t, second.containerId)
  expect(await Promise.all(open.map((response) => response.text()))).toEqual([
    'begins in 1\n',
    'begins in 2\n',
  ])
})

test('the replicas that an app can have depend on how it is reached', async () => {
  const { project } = await aSite(anApp('x'))
  const path = `/projects/${project.id}/envs/${project.environmentId}`
  const put = (fields: Record<string, unknown>) => ada.put(path, fields)
  const web = (replicas: number) => ({ processes: [{ name: 'web', replicas }] })
  expect((await put(web(13))).json.detail).toContain('spread over 12 at most')
  const { status, json } = await put({ ...web(2), hostPort: 28_124 })
  expect([status, json.errors[0].field]).toEqual([422, 'processes'])
  expect(json.detail).toContain('Leave the host port empty')
  expect((await put(web(12))).status).toBe(200)
})

test('an app with a volume shows a page while it is switched, and the old one is back where the new one fails', async () => {
  const settings = { volumes: ['data:/data'], healthTimeout: 2 }
  const { host, project } = await aSite(anApp('first'), settings)
  const first = await project.deploy()
  project.repository.commit(aCommand('sleep 99'))
  const failing = await project.trigger()
  await until(async () => (await t.text(host)).includes(pages.starting.title))
  expect((await finished(ada, failing)).status).toBe('failed')
  await until(async () => (await t.text(host)) === 'first')
  expect(await t.docker.inspectContainer(first.containerId)).toMatchObject({ state: 'running' })
})

test('the old version serves until the new addresses are stored, however long that takes', async () => {
  const { host, project } = await aSite(anApp('first'))
  const first = await project.deploy()
  project.repository.commit(anApp('second'))
  const lead = t.edge.route.bind(t.edge)
  let isFull = true
  t.edge.route = (key, to) => {
    if (isFull && !Bun.deepEquals(t.edge.upstreamsOf(key), to))
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    lead(key, to)
  }
  const deployment = project.deploy()
  await until(async () =>
    listInstances(t.db, project.environmentId).some(({ state }) => state === 'standby'),
  )
  expect(await t.text(host)).toBe('first')
  expect(await t.docker.inspectContainer(first.containerId)).toMatchObject({ state: 'running' })
  isFull = false
  expect((await deployment).status).toBe('running')
  expect(await t.text(host)).toBe('second')
  await t.instanceTasks.idle()
  expect(await t.docker.inspectContainer(first.containerId)).toMatchObject({ state: 'exited' })
})

test('the stable port is the edge’s, unless a user chose it', async () => {
  const { project } = await aSite(anApp('first'), { domains: [] })
  const first = await project.deploy()
  expect(first.url).toEndWith(`:${project.hostPort}`)
  expect(await answerOf(first)).toBe('first')
  expect(await t.docker.inspectContainer(first.containerId)).toMatchObject({ ports: [] })

  const port = project.hostPort === 29_999 ? 29_998 : project.hostPort + 1
  await project.configure({ hostPort: port })
  const second = await project.deployFiles(anApp('second'))
  expect(await answerOf(second)).toBe('second')
  expect((await t.docker.inspectContainer(second.containerId))!.ports).toMatchObject([
    { host: port },
  ])
})

test('an app that ran before the edge came is served at once, and its port changes hands both ways', async () => {
  const direct = testApp()
  const host = 'app.test'
  const owner = direct.logIn('ada@example.com')
  const project = await aProject(direct, owner, anApp('first'), { domains: [host] })
  const first = await project.deploy()
  const { url } = first
  expect(await answerOf(first)).toBe('first')

  const { db, logDb } = direct
  const t = await edgeApp({ db, logDb })
  const same = new TestClient(t.deps, t.app, owner.user)
  expect(await t.text(host)).toBe('first')
  expect(await answerOf({ url })).toBe('first')
  project.repository.commit(anApp('second'))
  const second = await deployed(same, project.id)
  expect(second.status).toBe('running')
  expect(await t.text(host)).toBe('second')
  expect(await answerOf({ url })).toBe('second')
  expect(await t.docker.inspectContainer(second.containerId)).toMatchObject({ ports: [] })

  await t.instanceTasks.idle()
  const back = await t.startAgain({ DAVIT_EDGE: 'direct' })
  await back.edge.sync()
  expect(back.edge.isOn).toBe(false)
  expect(await answerOf({ url })).toBe('second') // Docker doesn't publish it yet
  expect((await t.get(host)).status).toBe(404)
  project.repository.commit(anApp('third'))
  const third = await deployed(new TestClient(back.deps, back.app, owner.user), project.id)
  expect(third.url).toBe(url)
  expect(await answerOf({ url })).toBe('third')
  await back.edge.sync()
  const caddys = labelFilter(back.instanceId, { kind: 'edge' })
  expect(await t.docker.listContainers({ labels: caddys, all: true })).toEqual([])
})

test('what is open when the edge comes ends on the old version', async () => {
  const direct = testApp()
  const host = 'app.test'
  const owner = direct.logIn('ada@example.com')
  const project = await aProject(direct, owner, aSlowApp('first'), { domains: [host] })
  const first = await project.deploy()
  const { db, logDb } = direct
  const t = await edgeApp({ db, logDb })
  const same = new TestClient(t.deps, t.app, owner.user)
  const open = t.text(host, '/cgi-bin/slow')
  project.repository.commit(anApp('second'))
  const second = deployed(same, project.id)
  await until(async () => (await t.text(host)) === 'second')
  await letEnd(t, first.containerId)
  expect(await open).toContain('in first')
  expect((await second).status).toBe('running')
})
