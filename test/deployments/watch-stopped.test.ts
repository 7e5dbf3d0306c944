import { expect, test } from 'bun:test'
import { updateDeployment } from '../../src/deployments/store.ts'
import { Watches } from '../../src/deployments/watch/watches.ts'
import { listInstances, updateInstance } from '../../src/runtime/store.ts'
import type { Instance } from '../../src/runtime/store.ts'
import { until } from '../support/until.ts'
import { watched } from './watching.ts'

test('a version whose container is stopped isn’t watched any more, and isn’t promoted', async () => {
  const { t, ada, project, first, second, promoted, stored } = await watched({ promotes: true })
  expect((await ada.post(`/containers/${second.containerId}/stop`)).status).toBe(200)
  await until(() => stored().watchUntil === null)
  expect(stored()).toMatchObject({ status: 'stopped', watch: { end: 'stopped' } })
  expect(t.routes.get(project.environmentId)).toBe('stopped')
  await until(async () => (await t.docker.inspectContainer(first.containerId))?.state === 'exited')
  expect(promoted()).toEqual([first.id])
})

test('a restart of its container doesn’t end the watch', async () => {
  const { t, second, stored } = await watched()
  let looks = 0
  const { estimatedOf } = t.watched
  t.watched.estimatedOf = (id) => {
    looks++
    const status = looks % 2 === 1 ? 'stopped' : 'running' // between its stop and its start
    updateDeployment(t.db, second.id, { status })
    return estimatedOf.call(t.watched, id)
  }
  await until(() => looks === 3)
  expect(stored().watch!.end).toBeNull()
})

test.each(['over', 'kept', 'interrupted'] as const)(
  'a version that is stopped when its watch is %s isn’t promoted',
  async (end) => {
    const { t, first, second, promoted, stored } = await watched({ promotes: true })
    await t.watches.stop()
    await t.docker.stopContainer(second.containerId)
    await until(() => stored().status === 'stopped')
    const next = new Watches(t.deps)
    if (end === 'over') {
      updateDeployment(t.db, second.id, { watchUntil: new Date(Date.now() - 1000) })
      next.resume()
      await next.idle()
    } else await next.end(second, end)
    expect(stored()).toMatchObject({ status: 'stopped', watch: { end: 'stopped' } })
    expect(promoted()).toEqual([first.id])
  },
)

test('a version that was stopped while Davit was down isn’t promoted when its time is over by then', async () => {
  const { t, first, second, promoted, stored } = await watched({ promotes: true })
  await t.watches.stop()
  await t.docker.stopContainer(second.containerId)
  await until(() => stored().status === 'stopped')
  // as the next process finds it
  const { id } = listInstances(t.db, second.environmentId).find(isOf(second))!
  updateInstance(t.db, id, { state: 'live' })
  updateDeployment(t.db, second.id, { status: 'running', watchUntil: new Date(Date.now() - 1000) })
  const next = new Watches(t.deps)
  next.resume()
  await next.idle()
  expect(stored()).toMatchObject({ status: 'stopped', watch: { end: 'stopped' } })
  expect(promoted()).toEqual([first.id])
})

const isOf = (release: { id: string }) => (one: Instance) => one.releaseId === release.id
