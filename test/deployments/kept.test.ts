import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { getRow } from '../../src/db/queries.ts'
import { deployments, jobs, workloads } from '../../src/db/schema.ts'
import { apps } from '../../src/deployments/observe.ts'
import { neverAborted } from '../../src/platform/pause.ts'
import { observeDifferent } from '../../src/runtime/observe.ts'
import { removeImage } from '../../src/runtime/images/remove.ts'
import { listDifferent } from '../../src/runtime/reconcile.ts'
import { listInstances } from '../../src/runtime/store.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { until } from '../support/until.ts'
import { anApp, aProject, cancel, finished, logOf, rollBack } from './apps.ts'
import { watched } from './watching.ts'

async function twoVersions(settings = {}, overrides: Parameters<typeof simulatedApp>[1] = {}) {
  const { t, ada } = withAda(simulatedApp({}, overrides))
  const project = await aProject(t, ada, anApp('first'), { port: 0, ...settings })
  const first = await project.deploy()
  const second = await project.deployFiles(anApp('second'))
  await t.jobs.idle()
  const stateOf = async (id: string) => (await t.deps.docker.inspectContainer(id))?.state
  const backTo = async (one: typeof first) => finished(ada, (await rollBack(ada, one)).json)
  const kept = () =>
    listInstances(t.db, first.environmentId).filter(({ state }) => state === 'standby')
  return { t, ada, project, first, second, stateOf, backTo, kept }
}

test('a rollback starts the containers that are kept, and keeps those it replaces', async () => {
  const { t, ada, first, second, backTo, stateOf } = await twoVersions()
  expect(await stateOf(first.containerId)).toBe('exited')

  const rollback = await backTo(first)

  expect(rollback).toMatchObject({ status: 'running', containerId: first.containerId })
  expect(await stateOf(first.containerId)).toBe('running')
  const started = await t.docker.inspectContainer(first.containerId)
  expect(started!.restartPolicy.name).not.toBe('no')
  const page = `/containers/${first.containerId}`
  expect((await ada.get(page)).json.kept).toBe(false)
  expect((await ada.page(page)).text).toContain(`/deployments/${rollback.id}"`)
  expect(await stateOf(second.containerId)).toBe('exited')

  const again = await backTo(second)
  expect(again.containerId).toBe(second.containerId)
  const labels = [`davit.environment=${first.environmentId}`]
  expect(await t.docker.listContainers({ labels, all: true })).toHaveLength(2)
  expect((await ada.get(`/containers/${first.containerId}`)).json).toMatchObject({ kept: true })
})

test('the next deployment removes what is kept, and keeps the one before it', async () => {
  const { t, project, first, second, stateOf } = await twoVersions()
  await project.deployFiles(anApp('third'))
  await t.jobs.idle()
  expect(await t.docker.inspectContainer(first.containerId)).toBeNull()
  expect(await stateOf(second.containerId)).toBe('exited')
})

test('one that fails leaves it', async () => {
  const { project, first, kept, stateOf } = await twoVersions()
  await project.configure({ processes: [{ name: 'web', command: 'sh -c "exit 5"' }] })
  expect(await project.deploy()).toMatchObject({ status: 'failed' })
  expect(kept()).toMatchObject([{ containerId: first.containerId }])
  expect(await stateOf(first.containerId)).toBe('exited')
})

test.each(['other settings', 'another variable', 'no container any more'] as const)(
  'with %s a rollback recreates it',
  async (what) => {
    const { t, ada, project, first, backTo } = await twoVersions()
    if (what === 'other settings') await project.configure({ memoryMb: 128 })
    else if (what === 'another variable') await project.set({ key: 'COLOUR', value: 'blue' })
    else await t.docker.removeContainer(first.containerId, { force: true })

    const rollback = await backTo(first)

    expect(rollback.status).toBe('running')
    expect(rollback.containerId).not.toBe(first.containerId)
    expect((await logOf(ada, rollback)).join('\n')).toContain('recreated')
    expect(await t.docker.inspectContainer(first.containerId)).toBeNull()
  },
)

test('a start that is refused fails the rollback: the live one stays, and what is kept too', async () => {
  const { t, first, second, backTo, kept, stateOf } = await twoVersions()
  t.faults.startContainer = () => Promise.reject(new Error('no'))
  expect(await backTo(first)).toMatchObject({ status: 'failed' })
  delete t.faults.startContainer
  expect(await stateOf(second.containerId)).toBe('running')
  expect(kept()).toMatchObject([{ containerId: first.containerId, releaseId: first.id }])
  expect(await backTo(first)).toMatchObject({ containerId: first.containerId, status: 'running' })
})

test('a rollback that is cancelled after its start stops what is kept before the live one starts', async () => {
  const { t, ada, project, first, second, backTo, kept, stateOf } = await twoVersions({
    volumes: ['data:/data'],
  })
  const order: string[] = []
  const note = (verb: string, id: string) =>
    void order.push(`${verb} ${id === first.containerId ? 'first' : 'second'}`)
  t.faults.startContainer = (id) => (note('start', id), t.docker.startContainer(id))
  t.faults.stopContainer = (id) => (note('stop', id), t.docker.stopContainer(id))
  t.faults.setRestartPolicy = async (id, policy) => {
    await t.docker.setRestartPolicy(id, policy)
    if (policy.name === 'no') return
    const { items } = (await ada.get(`/projects/${project.id}/deployments`)).json
    void cancel(ada, items[0])
    await until(() => t.db.select().from(jobs).get()?.cancelRequested === true)
  }
  expect(await backTo(first)).toMatchObject({ status: 'cancelled' })
  await t.jobs.idle()
  expect(order).toEqual(['stop second', 'start first', 'stop first', 'start second'])
  expect(kept()).toMatchObject([{ containerId: first.containerId, releaseId: first.id }])
  const { restartPolicy } = (await t.docker.inspectContainer(first.containerId))!
  expect([await stateOf(first.containerId), restartPolicy.name]).toEqual(['exited', 'no'])
  expect(await stateOf(second.containerId)).toBe('running')
})

test('a restart of Docker, or of Davit, starts nothing that is kept', async () => {
  const engine = new FakeEngine(realClock)
  const docker = fakeDocker(engine, atOnce)
  const { t, ada, first, second, backTo, kept, stateOf } = await twoVersions({}, { docker })
  const isAsItWas = async () => {
    expect(await stateOf(first.containerId)).toBe('exited')
    expect(await stateOf(second.containerId)).toBe('running')
    expect(kept()).toHaveLength(1)
  }
  const options = { signal: neverAborted() }
  engine.reboot()
  await until(async () => (await stateOf(second.containerId)) === 'running')
  expect(await listDifferent(t.deps, 'app', options)).toEqual(new Set())
  await isAsItWas()

  // as a Davit that was killed before it had stopped it has left it
  await docker.setRestartPolicy(first.containerId, { name: 'unless-stopped' })
  await docker.startContainer(first.containerId)
  await observeDifferent(t.deps, apps, options)
  await isAsItWas()
  engine.reboot()
  await until(async () => (await stateOf(second.containerId)) === 'running')
  await isAsItWas()

  // killed while it rolled back: the container runs, and the roll-out has no end
  t.db
    .update(workloads)
    .set({ nextReleaseId: second.id.replace(/.$/, '0') })
    .run()
  await docker.startContainer(first.containerId)
  await observeDifferent(t.deps, apps, options)
  await isAsItWas()
  expect(await backTo(first)).toMatchObject({ status: 'running', containerId: first.containerId })
  expect((await ada.get(`/containers/${second.containerId}`)).json.kept).toBe(true)
})

test('a clean-up may remove what is kept, but not what a rollback started again', async () => {
  const processes = (memoryMb: number) => ({
    processes: [{ name: 'web' }, { name: 'worker', command: 'sleep 9999', memoryMb }],
  })
  const { t, project, first, second, backTo, kept } = await twoVersions(processes(64))
  const root = t.logInAsAdmin()
  const plan = async () => {
    const asked = { what: ['containers'], dryRun: true }
    const { candidates, kept } = (await root.post('/settings/prune', asked)).json
    const fateOf = ({ item, byDefault }: { item: string; byDefault?: boolean }) => [item, byDefault]
    const ofWeb = ({ item: its }: { item: string }) => [item(first), item(second)].includes(its)
    return Object.fromEntries([...candidates, ...kept].filter(ofWeb).map(fateOf))
  }
  await t.deps.docker.stopContainer(second.containerId)
  const item = (of: typeof first) => `container:${of.containerId}`
  expect(await plan()).toEqual({ [item(first)]: true, [item(second)]: undefined })
  await project.configure(processes(65)) // that one is recreated
  const third = await backTo(first)
  await t.docker.stopContainer(first.containerId)
  expect(await plan()).toEqual({ [item(second)]: true, [item(first)]: undefined })
  await backTo(second) // now it has the label of the deployment before
  expect(await plan()).toEqual({ [item(first)]: true, [item(second)]: undefined })
  await root.post('/settings/prune', { what: ['containers'], items: [item(first)] })
  await until(() => t.cleanUps.latest?.finishedAt instanceof Date)
  await observeDifferent(t.deps, apps, { signal: neverAborted() })
  expect(kept()).toMatchObject([{ component: 'worker' }])
  expect(await backTo(third)).toMatchObject({ status: 'running' })
})

test('pages and JSON of the project offer what is kept', async () => {
  const { t, ada, project, first, second, backTo } = await twoVersions()
  const path = `/projects/${project.id}/envs/${project.environmentId}`
  const offers = async (id: string) => {
    expect((await ada.get(path)).json.keptDeploymentId).toBe(id)
    for (const page of [`/projects/${project.id}`, path])
      expect((await ada.page(page)).text).toContain(`/deployments/${id}/rollback"`)
  }
  await offers(first.id)
  await backTo(first)
  await offers(second.id)
  await t.docker.removeContainer(second.containerId, { force: true })
  await observeDifferent(t.deps, apps, { signal: neverAborted() })
  expect((await ada.get(path)).json.keptDeploymentId).toBeNull()
})

test('a stop, a start and a restart of the environment leave it, and no one starts it by hand', async () => {
  const { t, ada, first, second, kept, stateOf } = await twoVersions()
  for (const verb of ['stop', 'start', 'restart']) {
    await ada.post(`/envs/${first.environmentId}/${verb}`)
    await t.jobs.idle()
    expect(await stateOf(first.containerId)).toBe('exited')
    expect(kept()).toHaveLength(1)
  }
  expect(await stateOf(second.containerId)).toBe('running')
  for (const verb of ['stop', 'restart']) {
    const { status } = await ada.post(`/containers/${first.containerId}/${verb}`)
    expect(status).toBe(409)
  }
  expect(await stateOf(first.containerId)).toBe('exited')
})

test('nothing is kept where only the image that runs is', async () => {
  const { t, ada, project, second } = await twoVersions()
  await ada.put(`/projects/${project.id}/settings`, { keepImages: 1 })
  await project.deploy()
  await t.jobs.idle()
  expect(await t.docker.inspectContainer(second.containerId)).toBeNull()
})

async function watchedAlone() {
  const s = await watched()
  await s.ada.put(`/projects/${s.project.id}/settings`, { keepImages: 1 })
  const keptId = async () => {
    const path = `/projects/${s.project.id}/envs/${s.project.environmentId}`
    return (await s.ada.get(path)).json.keptDeploymentId
  }
  return { ...s, keptId }
}

test.each(['its end', 'a deployment that fails'] as const)(
  'there a watch keeps the version before only until %s',
  async (what) => {
    const { t, project, first, second, keptId } = await watchedAlone()
    const { environmentId } = project
    expect(await keptId()).toBe(first.id)
    if (what === 'its end') await t.watches.end({ environmentId }, 'kept')
    else {
      t.faults.createContainer = () => Promise.reject(new Error('no'))
      expect(await project.deploy()).toMatchObject({ status: 'failed' })
      await t.jobs.idle()
    }
    await t.instanceTasks.idle()
    expect(await keptId()).toBeNull()
    expect(await t.docker.inspectContainer(first.containerId)).toBeNull()
    expect((await t.docker.inspectContainer(second.containerId))!.state).toBe('running')
  },
)

test('there a rollback in a watch only switches requests, too', async () => {
  const { t, ada, first, second, keptId } = await watchedAlone()
  const rollback = await finished(ada, (await rollBack(ada, first)).json)
  await t.jobs.idle()
  expect(rollback).toMatchObject({ status: 'running', containerId: first.containerId })
  expect(await keptId()).toBe(second.id)
})

test('the image of what is kept is needed, and no longer once that is removed', async () => {
  const { t, project, first } = await twoVersions()
  const image = getRow(t.db, deployments, eq(deployments.id, first.id))!.image!
  expect(await removeImage(t.deps, [image])).toBe('needed')
  await project.deployFiles(anApp('third'))
  await t.jobs.idle()
  expect(await removeImage(t.deps, [image])).toBe('removed')
})
