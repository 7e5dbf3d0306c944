import { expect, test } from 'bun:test'
import { observe } from '../../src/deployments/observe.ts'
import { EngineError } from '../../src/docker/index.ts'
import type { EngineFeed } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { watchWorkloads } from '../../src/runtime/observe.ts'
import { reconcile } from '../../src/runtime/reconcile.ts'
import { insertOnce } from '../../src/runtime/once-store.ts'
import { listInstances, updateInstance } from '../../src/runtime/store.ts'
import { anApp, aProject, logOf } from '../deployments/apps.ts'
import { services } from '../../src/services/observe.ts'
import { idle, made, settled } from '../services/instances.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { aWorkload } from './workload.ts'

const busy = new EngineError(500, 'device or resource busy')
const { signal } = new AbortController()

/** Docker can't remove these from now on, until what it returns is called. */
function keepRemoving(t: Pick<TestApp, 'docker' | 'faults'>, ids: string[], error: Error = busy) {
  const { removeContainer = t.docker.removeContainer } = t.faults
  t.faults.removeContainer = (id, ...rest) =>
    ids.includes(id) ? Promise.reject(error) : removeContainer(id, ...rest)
  return () => void (t.faults.removeContainer = removeContainer)
}

test('a container that Docker can’t remove is in the way of nothing that is done to its app, nor of what is known of it', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('first'))
  const { environmentId } = project
  const first = await project.deploy()
  await t.jobs.idle()
  keepRemoving(t, [first.containerId])
  const deploy = async () => {
    const deployment = await project.deploy()
    await t.jobs.idle()
    return deployment
  }
  for (const _ of [2, 3]) expect(await deploy()).toMatchObject({ status: 'running', error: null })
  const last = await deploy()
  expect(last).toMatchObject({ status: 'running', error: null })
  expect((await logOf(ada, last)).join()).toContain(busy.message)

  const stateOf = async () =>
    (await ada.get(`/projects/${project.id}/envs/${environmentId}`)).json.live.instances[0].state
  for (const [verb, state] of [
    ['restart', 'running'],
    ['stop', 'stopped'],
    ['start', 'running'],
  ]) {
    expect((await ada.post(`/envs/${environmentId}/${verb}`)).status).toBe(200)
    await t.jobs.idle()
    expect(await stateOf()).toBe(state)
  }
  await t.docker.stopContainer(last.containerId)
  await observe(t.deps, environmentId, { orphans: true, signal })
  expect(await stateOf()).toBe('stopped')
  expect(await t.docker.inspectContainer(first.containerId)).not.toBeNull()
})

test('nor of what is done to its service', async () => {
  const { t, ada } = withAda(simulatedApp())
  const compose = `services: {a: {${idle}, environment: {MODE: "\${MODE:-one}"}}}`
  const service = await made(t, ada, compose)
  keepRemoving(t, [service.containers[0].id])
  for (const MODE of ['two', 'three']) {
    await ada.put(`/services/${service.id}`, { MODE })
    expect(await settled(t, ada, service)).toMatchObject({ status: 'running', error: null })
  }
  for (const [verb, status] of [
    ['restart', 'running'],
    ['stop', 'stopped'],
    ['restart', 'running'],
  ]) {
    await ada.post(`/services/${service.id}/${verb}`)
    expect(await settled(t, ada, service)).toMatchObject({ status, error: null })
  }
})

test('neither is one of a command that has ended, nor one that is unknown; each goes once it can', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('first'))
  const workload = { id: project.environmentId, kind: 'app' } as const
  const { id: releaseId, containerId } = await project.deploy()
  await t.jobs.idle()
  const { options } = t.engine.container(containerId)
  const make = (name: string) => t.docker.createContainer({ ...options, name })
  const left = [await make('once'), await make('unknown'), await make('another')]
  const { serverId } = t.docker
  const once = { id: Bun.randomUUIDv7(), workload, releaseId, component: 'web', serverId }
  updateInstance(t.db, insertOnce(t.db, once).id, { containerId: left[0]! })
  const canRemove = keepRemoving(t, left)
  const look = () => reconcile(t.deps, workload, { orphans: true, signal })
  await t.docker.stopContainer(containerId)
  expect(await look()).toMatchObject([{ instance: { state: 'stopped' } }])
  canRemove()
  await look()
  const found = await Promise.all(left.map((one) => t.docker.inspectContainer(one)))
  expect(found).toEqual([null, null, null])
})

test('what an engine that is away has is not left: the work begins again once that responds', async () => {
  const s = await aWorkload({ isSimulated: true })
  await s.roll('first')
  const containerId = listInstances(s.db, s.workload.id)[0]!.containerId!
  const canRemove = keepRemoving(s, [containerId])
  await s.roll('second')
  canRemove()
  keepRemoving(s, [containerId], new Failure('engine_unreachable', 'It is away.', 'Wait.'))
  const looking = reconcile(s.deps, s.workload, { orphans: false, signal })
  await expect(looking).rejects.toMatchObject({ code: 'engine_unreachable' })
})

test('what is left is tried again without an event', async () => {
  const clock = new TestClock('2026-11-29T12:00:00Z')
  const { t, ada } = withAda(simulatedApp({}, { clock }))
  const compose = `services: {a: {${idle}, environment: {MODE: "\${MODE:-one}"}}}`
  const service = await made(t, ada, compose)
  const left: string = service.containers[0].id
  const canRemove = keepRemoving(t, [left])
  await ada.put(`/services/${service.id}`, { MODE: 'two' })
  await settled(t, ada, service)
  const end = new AbortController()
  const feed = { listen: () => aborted(end.signal) } as unknown as EngineFeed
  const watching = watchWorkloads({ ...t.deps, feed }, services, { signal: end.signal })
  canRemove()
  await clock.pass(600_000)
  await until(async () => (await t.docker.inspectContainer(left)) === null)
  end.abort()
  await watching
})

/** No event, until the signal. */
async function* aborted(signal: AbortSignal) {
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}
