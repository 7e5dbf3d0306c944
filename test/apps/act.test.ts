import { expect, test } from 'bun:test'
import { updateEnvironment } from '../../src/environments/store.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { anApp, aProject, finished, slowBuilds, untilAnswers } from '../deployments/apps.ts'
import { listen, sooner } from '../containers/engine.ts'
import { logs, pathOf } from '../deployments/events.ts'

/** Answers wait for the end, however busy the machine is. */
const patient = { config: { acceptTimeout: 60_000 } }

type Project = Awaited<ReturnType<typeof aProject>>

const look = async (client: TestClient, { id, environmentId }: Project) =>
  (await client.get(`/projects/${id}/envs/${environmentId}`)).json

const act = (client: TestClient, { environmentId }: Project, verb: 'start' | 'stop' | 'restart') =>
  client.post(`/envs/${environmentId}/${verb}`)

/** How long a container must stay up, from now on. */
const settleIn = (t: TestApp, settleTime: number) => Object.assign(t.config, { settleTime })

/** A web process and a worker, of one image. */
const withWorker = (t: TestApp, { environmentId }: Project, command = 'exec sleep 999') =>
  updateEnvironment(t.db, environmentId, {
    processes: [
      { name: 'web', command: null, replicas: 1, memoryMb: null, cpus: null },
      { name: 'worker', command: ['sh', '-c', command], replicas: 1, memoryMb: null, cpus: null },
    ],
  })

const startTimes = (t: TestApp, { live }: { live: { instances: { containerId: string }[] } }) =>
  Promise.all(
    live.instances.map(async ({ containerId }) => {
      const found = await t.docker.inspectContainer(containerId)
      return found!.startedAt!.getTime()
    }),
  )

test('a stop and a start act on all processes, and say so wherever one looks', async () => {
  const t = testApp({}, patient)
  const ada = t.logInAsAdmin('ada@example.com')
  const project = await aProject(t, ada, anApp('x'))
  withWorker(t, project)
  const deployment = await project.deploy()
  expect(await look(ada, project)).toMatchObject({
    live: {
      deploymentId: deployment.id,
      instances: [
        { process: 'web', containerId: deployment.containerId, state: 'running' },
        { process: 'worker', serverId: t.docker.serverId, state: 'running' },
      ],
    },
  })

  const stopped = await act(ada, project, 'stop')
  expect(stopped.status).toBe(200)
  expect(stopped.json.live.instances).toMatchObject([{ state: 'stopped' }, { state: 'stopped' }])
  expect((await ada.get(pathOf(deployment))).json).toMatchObject({ status: 'stopped', error: null })
  for (const { containerId } of stopped.json.live.instances)
    expect(await t.docker.inspectContainer(containerId)).toMatchObject({
      state: 'exited',
      restartPolicy: { name: 'unless-stopped' },
    })

  const started = await act(ada, project, 'start')
  expect(started.json.live.instances).toMatchObject([{ state: 'running' }, { state: 'running' }])
  expect((await ada.get(pathOf(deployment))).json.status).toBe('running')
  await untilAnswers(deployment, 'x')

  const before = await startTimes(t, started.json)
  const restarted = await act(ada, project, 'restart')
  expect(restarted.json.live).toEqual(started.json.live)
  const after = await startTimes(t, restarted.json)
  for (const [at, time] of after.entries()) expect(time).toBeGreaterThan(before[at]!)
  const { items } = (await ada.get('/settings/audit')).json
  expect(items.slice(0, 3).map(({ action }: { action: string }) => action)).toEqual([
    'environment.restarted',
    'environment.started',
    'environment.stopped',
  ])
})

test('a deployment starts a stopped environment, and one that fails leaves it stopped', async () => {
  const { t, ada } = withAda(simulatedApp({}, patient))
  const project = await aProject(t, ada, anApp('x'))
  const first = await project.deploy()
  await t.jobs.idle()
  await act(ada, project, 'stop')
  settleIn(t, 60_000) // the one that fails never waits for it
  await project.configure({ processes: [{ name: 'web', command: 'false' }] })
  expect((await project.deploy()).status).toBe('failed')
  await t.jobs.idle()
  expect(await t.docker.inspectContainer(first.containerId)).toMatchObject({ state: 'exited' })
  expect((await ada.get(pathOf(first))).json.status).toBe('stopped')

  settleIn(t, 0)
  await project.configure({ processes: [{ name: 'web' }] })
  const second = await project.deploy()
  expect(second.status).toBe('running')
  expect(await t.docker.inspectContainer(second.containerId)).toMatchObject({ state: 'running' })
})

test('a start that fails says why, and a later one that succeeds forgets it', async () => {
  const { t, ada } = withAda(testApp({}, patient))
  const project = await aProject(t, ada, anApp('x'))
  withWorker(t, project, 'test ! -e /tmp/broken || exit 7; exec sleep 999')
  const deployment = await project.deploy()
  const [, worker] = (await look(ada, project)).live.instances
  await t.docker.putArchive(worker.containerId, {
    path: '/tmp',
    files: [{ path: 'broken', content: '', mode: 0o644 }],
  })

  settleIn(t, 60_000)
  // a busy machine is late to ask: the engine has started it again by then
  t.faults.inspectEnded = async (...asked) => {
    const found = await t.docker.inspectEnded(...asked)
    return found && { ...found, state: 'running', exitCode: 0 }
  }
  const { status } = await act(ada, project, 'restart')
  delete t.faults.inspectEnded
  expect(status).toBe(200)
  const failed = (await ada.get(pathOf(deployment))).json
  expect(failed.error).toMatchObject({ step: 'restarting', code: 'exited' })
  expect(failed.error.message).toContain('7')
  const page = await ada.page(`/projects/${project.id}/envs/${project.environmentId}`)
  expect(page.text).toContain('Failed while restarting')

  expect((await act(ada, project, 'stop')).json.live.instances).toMatchObject([
    { state: 'stopped' },
    { state: 'stopped' },
  ])
  expect(await t.docker.inspectContainer(worker.containerId)).toMatchObject({ state: 'exited' })
  expect((await ada.get(pathOf(deployment))).json).toMatchObject({ status: 'stopped', error: null })
})

test('a container that was removed can’t be started, and the answer says what can be done', async () => {
  const { t, ada } = withAda(simulatedApp({}, patient))
  const project = await aProject(t, ada, anApp('x'))
  const deployment = await project.deploy()
  await t.jobs.idle()
  await t.docker.removeContainer(deployment.containerId, { force: true })
  await act(ada, project, 'start')
  expect((await ada.get(pathOf(deployment))).json).toMatchObject({
    status: 'stopped',
    error: { step: 'starting', code: 'container_missing' },
  })
})

test('a start leaves alone what runs: the engine would start it again after a crash', async () => {
  const { t, ada } = withAda(simulatedApp({}, patient))
  const project = await aProject(t, ada, anApp('x'))
  withWorker(t, project)
  await project.deploy()
  await t.jobs.idle()
  const { instances } = (await look(ada, project)).live
  const [web, worker] = instances.map((one: { containerId: string }) => one.containerId)
  await t.docker.stopContainer(worker)
  const touched = new Set<string>()
  t.faults.setRestartPolicy = (id, ...rest) => {
    touched.add(id)
    return t.docker.setRestartPolicy(id, ...rest)
  }
  const started = await act(ada, project, 'start')
  expect(started.json.live.instances).toMatchObject([{ state: 'running' }, { state: 'running' }])
  expect(touched).toContain(worker)
  expect(touched).not.toContain(web)
})

test('what can’t be started or stopped now is refused with what to do', async () => {
  const { t, ada } = withAda(simulatedApp({}, patient))
  const project = await aProject(t, ada, anApp('x'), { port: 0 })
  for (const verb of ['start', 'restart', 'stop'] as const) {
    const { status, json } = await act(ada, project, verb)
    expect(status).toBe(409)
    expect(json.detail).toContain('Nothing has been deployed to production yet. Deploy it first.')
  }
  await project.deploy()
  slowBuilds(t)
  const second = await project.trigger()
  await logs(ada, second, 'It builds')
  const { status, json } = await act(ada, project, 'stop')
  expect(status).toBe(409)
  expect(json.detail).toContain('Wait until it has ended, or cancel it.')
  await ada.post(`${pathOf(second)}/cancel`)
  await act(ada, project, 'stop')
  const again = await act(ada, project, 'stop')
  expect(again.status).toBe(409)
  expect(again.json.detail).toContain('already stopped')
})

test('a stop ends a restart that hangs', async () => {
  const { t, ada } = withAda(simulatedApp({}, { config: { acceptTimeout: 50 } }))
  const project = await aProject(t, ada, anApp('x'))
  const deployment = await project.deploy()
  await t.jobs.idle()
  settleIn(t, 600_000)
  const restart = await act(ada, project, 'restart')
  expect(restart.status).toBe(202)
  const path = `/projects/${project.id}/envs/${project.environmentId}`
  expect(restart.headers.get('Location')).toBe(path)
  expect((await ada.page(path)).text).toContain('restarting')
  const again = await act(ada, project, 'start')
  expect(again.json.detail).toContain('already restarting. Wait until that has ended, or stop it.')

  await act(ada, project, 'stop')
  await t.jobs.idle()
  expect((await ada.get(pathOf(deployment))).json).toMatchObject({ status: 'stopped', error: null })
})

test('what ran before a restart runs again when that is cancelled', async () => {
  const t = simulatedApp({}, { config: { acceptTimeout: 50 } })
  const ada = t.logInAsAdmin('ada@example.com')
  const project = await aProject(t, ada, anApp('x'))
  withWorker(t, project)
  const deployment = await project.deploy()
  await t.jobs.idle()
  const { promise: isCancelled, resolve: goOn } = Promise.withResolvers<void>()
  t.faults.stopContainer = async (...args) => {
    const done = await t.docker.stopContainer(...args)
    await isCancelled
    return done
  }
  expect((await act(ada, project, 'restart')).status).toBe(202)
  await ada.post(`/settings/activity/environments/${project.environmentId}/cancel`)
  goOn()
  await t.jobs.idle()
  expect((await look(ada, project)).live.instances).toMatchObject([
    { state: 'running' },
    { state: 'running' },
  ])
  expect((await ada.get(pathOf(deployment))).json).toMatchObject({ status: 'running', error: null })
})

test('a deployment waits for the restart that is at work, and is not ended by a stop', async () => {
  const { t, ada } = withAda(simulatedApp({}, { config: { acceptTimeout: 50 } }))
  const project = await aProject(t, ada, anApp('x'))
  const deployment = await project.deploy()
  await t.jobs.idle()
  settleIn(t, 2000)
  await act(ada, project, 'restart')
  const next = await project.trigger()
  expect((await ada.get(pathOf(next))).json.status).toBe('pending')
  const { status, json } = await act(ada, project, 'stop')
  expect(status).toBe(409)
  expect(json.detail).toContain('A deployment to production is running')
  settleIn(t, 0)
  expect((await finished(ada, next)).status).toBe('running')
  expect((await ada.get(pathOf(deployment))).json.status).toBe('superseded')
})

test('a process that crashes again and again is said to, and stops with the others', async () => {
  const { t, ada } = withAda(simulatedApp({}, patient))
  listen(t)
  const project = await aProject(t, ada, anApp('x'))
  withWorker(t, project, 'sleep 0.3; exit 3')
  await project.deploy()
  await sooner(
    t,
    async () => (await look(ada, project)).live?.instances[1]?.state === 'crash_looping',
  )
  const page = await ada.page(`/projects/${project.id}/envs/${project.environmentId}`)
  expect(page.text).toContain('Crash-looping')

  const { json } = await act(ada, project, 'stop')
  expect(json.live.instances).toMatchObject([{ state: 'stopped' }, { state: 'stopped' }])
  for (const { containerId } of json.live.instances)
    expect(await t.docker.inspectContainer(containerId)).toMatchObject({ state: 'exited' })
})
