import { expect, test } from 'bun:test'
import { listInstances } from '../../src/runtime/store.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { anApp, aProject, finished, logOf, rollBack } from './apps.ts'

async function twoVersions(settings = {}) {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('first'), { port: 0, ...settings })
  const first = await project.deploy()
  project.repository.commit(anApp('second'))
  const second = await project.deploy()
  await t.jobs.idle()
  const stateOf = async (id: string) => (await t.docker.inspectContainer(id))?.state
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
  expect(await stateOf(second.containerId)).toBe('exited')

  const again = await backTo(second)
  expect(again.containerId).toBe(second.containerId)
  const labels = [`davit.environment=${first.environmentId}`]
  expect(await t.docker.listContainers({ labels, all: true })).toHaveLength(2)
  expect((await ada.get(`/containers/${first.containerId}`)).json).toMatchObject({ kept: true })
})

test('the next deployment removes what is kept, and keeps the one before it', async () => {
  const { t, project, first, second, stateOf } = await twoVersions()
  project.repository.commit(anApp('third'))
  await project.deploy()
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

test('a start that is refused fails the rollback: the live one stays, nothing half', async () => {
  const { t, first, second, backTo, kept, stateOf } = await twoVersions()
  t.faults.startContainer = () => Promise.reject(new Error('no'))
  expect(await backTo(first)).toMatchObject({ status: 'failed' })
  delete t.faults.startContainer
  expect(await stateOf(second.containerId)).toBe('running')
  expect(await t.docker.inspectContainer(first.containerId)).toBeNull()
  expect(kept()).toEqual([])
  expect(await backTo(first)).toMatchObject({ status: 'running' })
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
