import { expect, onTestFinished, test } from 'bun:test'
import { apps } from '../../src/deployments/observe.ts'
import { neverAborted, unlessAborted } from '../../src/platform/pause.ts'
import { InstanceTasks } from '../../src/runtime/instance-tasks.ts'
import { observeDifferent } from '../../src/runtime/observe.ts'
import { getInstance, listInstances } from '../../src/runtime/store.ts'
import { WorkloadLocks } from '../../src/runtime/workload-locks.ts'
import { withAda } from '../support/app.ts'
import { anApp, aProject, finished, logOf, rollBack } from './apps.ts'
import { logs, pathOf } from './events.ts'
import { appBehindEdge } from './simulated-edge.ts'

/** Two versions, of which the first one has open requests, and is stopped after them. */
async function twoVersions() {
  const { t, ada } = withAda(appBehindEdge())
  const [open, draining] = [Promise.withResolvers<boolean>(), Promise.withResolvers<void>()]
  t.edge.drained = (_, { signal }) => {
    draining.resolve()
    return unlessAborted(open.promise, signal)
  }
  const project = await aProject(t, ada, anApp('first'), { drainSeconds: 3600 })
  const first = await project.deploy()
  const second = await project.deployFiles(anApp('second'))
  await ada.post(`${pathOf(second)}/keep`)
  await draining.promise
  const instances = listInstances(t.db, project.environmentId)
  const idOf = ({ containerId }: { containerId: string }) =>
    instances.find((one) => one.containerId === containerId)!.id
  const stateOf = (one: { containerId: string }) => getInstance(t.db, idOf(one))!.state
  const inspect = async (one: { containerId: string }) =>
    (await t.docker.inspectContainer(one.containerId))!
  const stopped: string[] = []
  t.faults.stopContainer = (id, options) => (stopped.push(id), t.docker.stopContainer(id, options))
  return { t, ada, project, open, first, second, stopped, stateOf, inspect }
}

const waiting = 'Waiting until what is kept has stopped'

test('a rollback to a version that waits for open requests takes it as it runs, at once', async () => {
  const { t, ada, open, first, second, stopped, stateOf, inspect } = await twoVersions()
  const before = await inspect(first)

  const rollback = await finished(ada, (await rollBack(ada, first)).json)

  expect(rollback).toMatchObject({ status: 'running', containerId: first.containerId })
  expect((await logOf(ada, rollback)).join('\n')).not.toContain(waiting)
  open.resolve(true)
  await t.instanceTasks.idle()
  expect(stopped).not.toContain(first.containerId)
  expect(await inspect(first)).toMatchObject({ state: 'running', startedAt: before.startedAt })
  expect((await inspect(first)).restartPolicy.name).not.toBe('no')
  expect([stateOf(first), stateOf(second)]).toEqual(['live', 'standby'])
})

test('one that is being stopped already is awaited, and started again', async () => {
  const { t, ada, open, first, stateOf, inspect } = await twoVersions()
  const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  t.faults.stopContainer = async (id, options) => {
    begun.resolve()
    await goesOn.promise
    return t.docker.stopContainer(id, options)
  }
  open.resolve(true)
  await begun.promise
  const asked = (await rollBack(ada, first)).json
  await logs(ada, asked, waiting)
  goesOn.resolve()
  const rollback = await finished(ada, asked)
  expect(rollback).toMatchObject({ status: 'running', containerId: first.containerId })
  await t.instanceTasks.idle()
  expect([stateOf(first), (await inspect(first)).state]).toEqual(['live', 'running'])
  expect((await inspect(first)).restartPolicy.name).not.toBe('no')
  await t.jobs.idle()
  const { spans } = (await ada.get(`${pathOf(rollback)}/trace`)).json
  const span = { kind: 'wait', name: 'until what is kept has stopped', failed: false }
  expect(spans).toContainEqual(expect.objectContaining(span))
})

test('one that isn’t what would be created goes on ending its requests, and is removed after them', async () => {
  const { t, ada, project, open, first, inspect } = await twoVersions()
  await project.configure({ memoryMb: 128 })
  const rollback = await finished(ada, (await rollBack(ada, first)).json)
  expect(rollback.status).toBe('running')
  expect(rollback.containerId).not.toBe(first.containerId)
  expect((await inspect(first)).state).toBe('running')
  open.resolve(true)
  await t.instanceTasks.idle()
  expect(await inspect(first)).toBeNull()
})

test.each(['the rollback fails', 'Davit is killed'])(
  'when %s after that, it is stopped, and the live one runs as before',
  async (what) => {
    const { t, ada, project, open, first, second, stateOf, inspect } = await twoVersions()
    const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    t.faults.waitForExit = async () => {
      begun.resolve()
      await goesOn.promise
      throw new Error('no')
    }
    onTestFinished(() => goesOn.resolve())
    const rollback = (await rollBack(ada, first)).json
    await begun.promise
    expect((await inspect(first)).state).toBe('running')
    const next = { ...t.deps, locks: new WorkloadLocks(), instanceTasks: new InstanceTasks() }
    if (what === 'Davit is killed')
      await observeDifferent(next, apps, { signal: neverAborted() }) // by the next process
    else {
      goesOn.resolve()
      expect((await finished(ada, rollback)).status).toBe('failed')
      expect((await inspect(first)).state).toBe('running') // its requests go on
    }
    open.resolve(true)
    for (const { instanceTasks } of [t, next]) await instanceTasks.idle()
    expect(await inspect(first)).toMatchObject({ state: 'exited', restartPolicy: { name: 'no' } })
    expect([stateOf(first), stateOf(second)]).toEqual(['standby', 'live'])
    const { state, addresses } = await inspect(second)
    expect(state).toBe('running')
    const led = Object.values(addresses).map((address) => `${address}:8080`)
    expect(t.routes.get(project.environmentId)).toEqual(led)
  },
)
