import { expect, spyOn, test } from 'bun:test'
import { pages } from '../../src/edge/pages.ts'
import { stopLive } from '../../src/runtime/restart.ts'
import { listInstances } from '../../src/runtime/store.ts'
import { aCommand, anApp, cancel, finished } from '../deployments/apps.ts'
import { aSlowApp, letEnd, sharedEdge } from '../deployments/edge-app.ts'
import { logs } from '../deployments/events.ts'
import { until } from '../support/until.ts'

const { t, ada, aSite } = await sharedEdge()

test('replicas share the requests, one that ends is left out at once, and comes back when it is well', async () => {
  const processes = [{ name: 'web', replicas: 2 }]
  const script = 'mkdir /www; hostname > /www/index.html; exec httpd -f -p 8080 -h /www'
  const { host, project } = await aSite(aCommand(script), { processes })
  expect((await project.deploy()).status).toBe('running')
  const { environmentId } = project
  const instances = listInstances(t.db, environmentId)
  expect(t.edge.upstreamsOf(environmentId)).toHaveLength(2)
  const seen = new Set<string>()
  await until(async () => seen.add(await t.text(host)).size === 2)

  const names = [...seen]
  const { wrong } = await t.visited(host, names, async () => {
    await t.docker.stopContainer(instances[0]!.containerId!, { timeoutSeconds: 0 })
    await until(() => t.edge.upstreamsOf(environmentId)?.length === 1)
    await t.docker.startContainer(instances[0]!.containerId!)
    await until(() => t.edge.upstreamsOf(environmentId)?.length === 2)

    await ada.post(`/envs/${environmentId}/restart`)
    await t.jobs.idle() // the answer doesn't wait for it for ever
    const restarted = await ada.get(`/projects/${project.id}/envs/${environmentId}`)
    expect(restarted.json.live.instances).toMatchObject([
      { containerId: instances[0]!.containerId, state: 'running' },
      { containerId: instances[1]!.containerId, state: 'running' },
    ])
  })
  expect(wrong).toEqual([])
  for (const { containerId } of instances)
    expect(await t.docker.inspectContainer(containerId!)).toMatchObject({
      restartPolicy: { name: 'unless-stopped' },
    })
})

test('replicas restart one after the other, once what is open there has ended', async () => {
  const processes = [{ name: 'web', replicas: 2 }]
  const { host, project } = await aSite(aSlowApp('x'), { processes })
  await project.deploy()
  await t.jobs.idle()
  const { environmentId } = project
  const open = await Promise.all(Array.from({ length: 8 }, () => t.get(host, '/cgi-bin/slow')))
  const restart = ada.post(`/envs/${environmentId}/restart`)
  for (const { containerId } of listInstances(t.db, environmentId)) {
    await until(() => listInstances(t.db, environmentId).some(({ state }) => state === 'unhealthy'))
    expect(t.edge.upstreamsOf(environmentId)).toHaveLength(1)
    expect(await t.text(host)).toBe('x')
    await letEnd(t, containerId!)
  }
  expect((await restart).status).toBe(200)
  const ends = await Promise.all(open.map((response) => response.text()))
  expect(new Set(ends)).toEqual(new Set(['begins in x\n']))
  expect(t.edge.upstreamsOf(environmentId)).toHaveLength(2)
})

test('a restart is noticed by no one: a new container takes the place of the only one', async () => {
  const script = 'mkdir /www; hostname > /www/index.html; exec httpd -f -p 8080 -h /www'
  const { host, project } = await aSite(aCommand(script))
  await project.deploy()
  await t.jobs.idle()
  const path = `/envs/${project.environmentId}/restart`
  const [before] = listInstances(t.db, project.environmentId)
  const name = await t.text(host)
  const names = [name]
  const { wrong } = await t.visited(host, names, async () => {
    t.faults.setRestartPolicy = () => Promise.reject(new Error('it broke'))
    await ada.post(path)
    await t.instanceTasks.idle()
    expect(listInstances(t.db, project.environmentId)).toMatchObject([before!])
    delete t.faults.setRestartPolicy
    const wait = t.edge.drained.bind(t.edge)
    spyOn(t.edge, 'drained').mockImplementationOnce(async (...asked) => {
      names.push(await t.text(host))
      return wait(...asked)
    })
    const { json } = await ada.post(path)
    expect(json.live.instances).toMatchObject([{ state: 'running' }])
    await t.instanceTasks.idle()
  })
  expect(wrong.filter((text) => !names.includes(text.replace(/^200 /, '')))).toEqual([])
  expect(new Set(names).size).toBe(2)
  expect(listInstances(t.db, project.environmentId)).toMatchObject([{ state: 'live' }])
  expect(await t.docker.inspectContainer(before!.containerId!)).toBeNull()
})

test('an app that crashes doesn’t say that it is starting, until Docker has started it again', async () => {
  const script = [
    'rm -f /tmp/go; mkdir -p /www; echo x > /www/index.html; httpd -p 8080 -h /www',
    'until [ -e /tmp/go ]; do sleep 0.1; done; sleep 1; exit 1',
  ].join('; ')
  const { host, project } = await aSite(aCommand(script))
  const { containerId } = await project.deploy()
  const leads = () => t.edge.upstreamsOf(project.environmentId)
  const before = leads()
  expect(before).toHaveLength(1)
  await letEnd(t, containerId)
  await until(() => leads() === 'unhealthy')
  expect((await t.get(host)).status).toBe(503)
  await until(async () => (await t.text(host)) === 'x\n')
  expect(leads()).toEqual(before)

  // also while another version is at its gate
  Object.assign(t.config, { settleTime: 600_000 })
  project.repository.commit(anApp('y'))
  const next = await project.trigger()
  await logs(ada, next, 'It responded')
  await letEnd(t, containerId)
  await until(() => leads() === 'starting')
  await until(async () => (await t.text(host)) === 'x\n')
  await cancel(ada, next)
  await finished(ada, next)
  Object.assign(t.config, { settleTime: 0 })
})

test('an app says that it is starting while it is restarted, and no longer when that fails', async () => {
  const once = '[ -e /data/broken ] && exec sleep 9999; touch /data/broken'
  const files = aCommand(`${once}; mkdir /www; exec httpd -f -p 8080 -h /www`)
  const settings = { volumes: ['data:/data'], healthTimeout: 1 }
  const { host, project } = await aSite(files, settings)
  expect((await project.deploy()).status).toBe('running')
  const restart = ada.post(`/envs/${project.environmentId}/restart`)
  await until(() => t.edge.upstreamsOf(project.environmentId) === 'starting')
  await restart
  await t.jobs.idle()
  expect(t.edge.upstreamsOf(project.environmentId)).toBe('unhealthy')
  expect(await t.text(host)).toContain(pages.unhealthy.title)
})

test('a version that no longer responds is stopped by the deployment of the next', async () => {
  const script = [
    '[ -e /tmp/go ] && exec sleep 9999; mkdir /www; httpd -p 8080 -h /www',
    'until [ -e /tmp/go ]; do sleep 0.1; done; sleep 1; exit 1',
  ].join('; ')
  const { host, project } = await aSite(aCommand(script))
  const { containerId } = await project.deploy()
  await letEnd(t, containerId)
  await until(() => t.edge.upstreamsOf(project.environmentId) === 'unhealthy')
  await until(async () => (await t.docker.inspectContainer(containerId))?.state === 'running')
  project.repository.commit(anApp('y'))
  expect((await project.deploy()).status).toBe('running')
  await until(async () => (await t.docker.inspectContainer(containerId))?.state === 'exited')
  expect(await t.text(host)).toBe('y')
})

test('an app that is stopped shows a page that says so, and ends what is open first', async () => {
  const { host, project } = await aSite(aSlowApp('x'))
  const { containerId } = await project.deploy()
  await t.jobs.idle()
  const open = await t.get(host, '/cgi-bin/slow')
  const stop = ada.post(`/envs/${project.environmentId}/stop`)
  await until(async () => (await t.text(host)).includes(pages.stopped.title))
  expect(await t.docker.inspectContainer(containerId)).toMatchObject({ state: 'running' })
  await letEnd(t, containerId)
  expect(await open.text()).toBe('begins in x\n')
  expect((await stop).json.live.instances).toMatchObject([{ state: 'stopped' }])
  expect(await t.text(host)).toContain(pages.stopped.title)
  await ada.post(`/envs/${project.environmentId}/start`)
  expect(await t.text(host)).toBe('x')
})

test('a stop that was broken off ends what is open first, too, when it is tried again', async () => {
  const { host, project } = await aSite(aSlowApp('x'))
  const { containerId } = await project.deploy()
  await t.jobs.idle()
  const open = await t.get(host, '/cgi-bin/slow')
  const over = new AbortController()
  const workload = { id: project.environmentId, kind: 'app' } as const
  const broken = stopLive(t.deps, { workload, signal: over.signal })
  await until(() => t.edge.upstreamsOf(project.environmentId) === 'unhealthy')
  over.abort()
  expect(await broken.catch(String)).toContain('abort')
  const waits = Promise.withResolvers<void>()
  const wait = t.edge.drained.bind(t.edge)
  spyOn(t.edge, 'drained').mockImplementationOnce((...asked) => (waits.resolve(), wait(...asked)))
  const stop = ada.post(`/envs/${project.environmentId}/stop`)
  await Promise.race([waits.promise, stop])
  await letEnd(t, containerId)
  expect(await open.text()).toBe('begins in x\n')
  expect((await stop).json.live.instances).toMatchObject([{ state: 'stopped' }])
})

test('a replica whose health check fails gets no requests until it passes', async () => {
  const { Dockerfile, ...www } = anApp('x')
  const check = 'HEALTHCHECK --interval=1s --retries=1 CMD test ! -e /tmp/ill'
  const files = { ...www, Dockerfile: `${Dockerfile}\n${check}` }
  const processes = [{ name: 'web', replicas: 2 }]
  const { host, project } = await aSite(files, { processes })
  await project.deploy()
  const { environmentId } = project
  const [ill] = listInstances(t.db, environmentId)
  const path = `/projects/${project.id}/envs/${environmentId}`
  const place = { path: '/tmp', files: [{ path: 'ill', content: '', mode: 0o644 }] }
  await t.docker.putArchive(ill!.containerId!, place)
  await until(() => t.edge.upstreamsOf(environmentId)?.length === 1)
  expect((await ada.get(path)).json.live.instances).toMatchObject([
    { state: 'unhealthy' },
    { state: 'running' },
  ])
  expect(await t.text(host)).toBe('x')
  const { signal } = new AbortController()
  await t.docker.runInContainer(ill!.containerId!, { command: ['rm', '/tmp/ill'], signal })
  await until(() => t.edge.upstreamsOf(environmentId)?.length === 2)
})
