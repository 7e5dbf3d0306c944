import { expect, test } from 'bun:test'
import { jobs } from '../../src/db/schema.ts'
import { getDeployment } from '../../src/environments/store.ts'
import { neverAborted } from '../../src/platform/pause.ts'
import { listInstances } from '../../src/runtime/store.ts'
import { until } from '../support/until.ts'
import { anApp, cancel, finished, rollBack } from './apps.ts'
import { aSlowApp, letEnd, sharedEdge } from './edge-app.ts'
import { logs } from './events.ts'

const { t, ada, aSite } = await sharedEdge()
const watched = { watchSeconds: 600 }

type Site = Awaited<ReturnType<typeof aSite>>
type Deployed = Awaited<ReturnType<Site['project']['deploy']>>

async function twoVersions(settings = {}) {
  const { host, project } = await aSite(anApp('first'), settings)
  const first = await project.deploy()
  const second = await project.deployFiles(anApp('second'))
  const statesOf = () =>
    Object.fromEntries(
      listInstances(t.db, project.environmentId).map(({ containerId, state }) => [
        containerId,
        state,
      ]),
    )
  return { host, project, first, second, statesOf }
}

const inspect = ({ containerId }: Deployed) => t.docker.inspectContainer(containerId)

test('while a version is watched, a rollback to the one before starts nothing: requests are switched', async () => {
  const { host, first, second, statesOf } = await twoVersions(watched)
  const before = (await inspect(first))!
  expect(before.state).toBe('running')
  let rollback = first
  const taken: string[] = []
  t.faults.startContainer = (id) => (taken.push(`start ${id}`), t.docker.startContainer(id))
  t.faults.setRestartPolicy = (id, policy) => (
    taken.push(`policy ${id}`),
    t.docker.setRestartPolicy(id, policy)
  )
  const { wrong } = await t.visited(host, ['first', 'second'], async () => {
    rollback = await finished(ada, (await rollBack(ada, first)).json)
    expect(await t.text(host)).toBe('first')
  })
  delete t.faults.startContainer
  delete t.faults.setRestartPolicy
  expect([wrong, taken]).toEqual([[], []])
  expect(rollback).toMatchObject({ status: 'running', containerId: first.containerId })
  expect(await inspect(first)).toMatchObject({ startedAt: before.startedAt, restartCount: 0 })
  expect(getDeployment(t.db, second.id)!.watch?.end).toBe('replaced')
  expect(getDeployment(t.db, rollback.id)!.watch).toMatchObject({ before: second.id, end: null })
  expect(statesOf()).toEqual({ [first.containerId]: 'live', [second.containerId]: 'standby' })

  const command = ['sh', '-c', 'echo after the rollback >/proc/1/fd/1']
  await t.docker.runInContainer(first.containerId, { command })
  const path = `/projects/${first.projectId}/envs/${first.environmentId}/output`
  const line = async () => {
    const { items } = (await ada.get(`${path}?limit=1000`)).json
    return items.find(({ text }: { text: string }) => text === 'after the rollback')
  }
  await until(line)
  expect((await line()).deploymentId).toBe(rollback.id)
  await t.watches.end({ environmentId: first.environmentId }, 'kept')
})

test.each(['deployment', 'rollback'] as const)(
  'a %s that is cancelled once it ended a watch stops the version before',
  async (what) => {
    const { host, project, first, second, statesOf } = await twoVersions(watched)
    const isFree = Promise.withResolvers<void>()
    const { environmentId: id } = project
    const held = t.locks.run({ id }, neverAborted(), () => isFree.promise)
    const third = what === 'rollback' ? (await rollBack(ada, first)).json : await project.trigger()
    await until(() => getDeployment(t.db, second.id)!.watchUntil === null)
    const cancelled = cancel(ada, third)
    await until(() => t.db.select().from(jobs).get()?.cancelRequested === true)
    isFree.resolve()
    expect((await finished(ada, third)).status).toBe('cancelled')
    await Promise.all([held, cancelled, t.jobs.idle()])
    await t.instanceTasks.idle()
    expect(await inspect(first)).toMatchObject({ state: 'exited', restartPolicy: { name: 'no' } })
    expect(statesOf()).toEqual({ [first.containerId]: 'standby', [second.containerId]: 'live' })
    expect(await t.text(host)).toBe('second')
  },
)

test('a version that needs a volume starts once no earlier one has it, kept or not', async () => {
  const withVolume = { volumes: ['data:/data'] }
  const { host, project } = await aSite(aSlowApp('first'), withVolume)
  const first = await project.deploy()
  const open = await t.get(host, '/cgi-bin/slow')
  await project.configure({ volumes: [] })
  const second = await project.deploy()
  expect(second).toMatchObject({ status: 'running', downtimeMs: null })
  await project.configure(withVolume)
  const third = await project.trigger()
  await logs(ada, third, 'Waiting for open requests')
  expect(await inspect(first)).toMatchObject({ state: 'running' })
  let stateThen: string | undefined
  t.faults.startContainer = async (id) => {
    stateThen = (await inspect(first))?.state
    return t.docker.startContainer(id)
  }
  await letEnd(t, first.containerId)
  expect((await finished(ada, third)).status).toBe('running')
  delete t.faults.startContainer
  expect(stateThen).toBe('exited')
  expect(await open.text()).toBe('begins in first\n')
  await t.instanceTasks.idle()
  expect([await inspect(first), (await inspect(second))?.state]).toEqual([null, 'exited'])
})
