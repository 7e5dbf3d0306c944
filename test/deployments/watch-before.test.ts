import { expect, test } from 'bun:test'
import { Watches } from '../../src/deployments/watch/watches.ts'
import { getDeployment } from '../../src/environments/store.ts'
import { until } from '../support/until.ts'
import { anApp, finished, rollBack } from './apps.ts'
import { watched } from './watching.ts'

test('a version whose watch a deployment ended isn’t promoted when another one is cancelled in the queue', async () => {
  const { t, ada, project, second, stored, promoted } = await watched({ promotes: true })
  const count = promoted().length
  const [entered, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  t.faults.createContainer = async (options) => {
    entered.resolve()
    await go.promise
    return t.docker.createContainer(options)
  }
  const path = `/projects/${project.id}/deployments`
  project.repository.commit(anApp('third'))
  const third = (await ada.post(path, {})).json
  await entered.promise
  expect(stored().watch!.end).toBe('replaced')
  const fourth = (await ada.post(path, {})).json
  await ada.post(`${path}/${fourth.id}/cancel`)
  await until(() => getDeployment(t.db, fourth.id)!.status === 'cancelled')
  expect(promoted()).toHaveLength(count)
  delete t.faults.createContainer
  go.resolve()
  await t.jobs.idle()
  expect(getDeployment(t.db, third.id)!.status).toBe('running')
  expect(promoted()).not.toContain(second.id)
})

test('a version that gets the requests back, as the next one crashed in its watch, is promoted then', async () => {
  const { t, ada, project, second, promoted } = await watched({ promotes: true })
  const third = await project.deployFiles(anApp('third'))
  expect(promoted()).not.toContain(second.id)
  t.engine.kill(third.containerId)
  await until(() => getDeployment(t.db, third.id)!.watch?.end === 'reverted')
  expect(getDeployment(t.db, second.id)).toMatchObject({
    ...{ status: 'running', watch: { end: 'interrupted' } },
  })
  expect(promoted()).toContain(second.id)
  await t.jobs.idle()
  expect((await ada.get(`/projects/${project.id}/deployments/${second.id}`)).status).toBe(200)
})

test('restarts of a version long before it got requests again don’t tell against a rollback to it', async () => {
  const { t, ada, first } = await watched()
  const seen = Promise.withResolvers<void>()
  let isResumed = false
  t.faults.inspectContainer = async (...of) => {
    const found = await t.docker.inspectContainer(...of)
    if (of[0] !== first.containerId || !found) return found
    if (isResumed) seen.resolve()
    return { ...found, restartCount: 3 }
  }
  const { id, environmentId } = await finished(ada, (await rollBack(ada, first)).json)
  await t.watches.stop()
  isResumed = true
  const next = new Watches(t.deps)
  next.resume()
  await seen.promise
  await next.end({ environmentId }, 'kept')
  expect(getDeployment(t.db, id)).toMatchObject({
    ...{ status: 'running', watch: { end: 'kept' } },
  })
})

test('a version whose crash nothing would undo has to stay up before it is switched to', async () => {
  const { ada, project, second } = await watched()
  const path = `/projects/${project.id}`
  const waits = async ({ id }: { id: string }) => {
    const { spans } = (await ada.get(`${path}/deployments/${id}/trace`)).json
    return spans.some(({ name }: { name: string }) => name === 'whether it stays up')
  }
  await ada.put(`${path}/envs/${second.environmentId}`, { rollbackOn: ['errors'] })
  const third = await project.deploy()
  expect([await waits(second), await waits(third)]).toEqual([false, true])
})

test('a version that gets the requests back, because the app is stopped, is never promoted by itself', async () => {
  const { t, ada, project, first, second, promoted } = await watched({ promotes: true })
  const third = await project.deployFiles(anApp('third'), { strategy: 'share', percent: 10 })
  expect(getDeployment(t.db, second.id)!.watch!.end).toBe('replaced')
  await ada.post(`/envs/${first.environmentId}/stop`)
  await t.jobs.idle()
  const statuses = [second, third].map(({ id }) => getDeployment(t.db, id)!.status)
  expect(statuses).toEqual(['stopped', 'cancelled'])
  await ada.post(`/envs/${first.environmentId}/start`)
  await t.jobs.idle()
  t.faults.createContainer = () => Promise.reject(new Error('no'))
  expect((await project.deploy()).status).toBe('failed')
  expect(promoted()).not.toContain(second.id)
})

test('a version that gets the requests back, because the app is restarted, is promoted', async () => {
  const { t, ada, project, first, second, promoted } = await watched({ promotes: true })
  await project.deployFiles(anApp('third'), { strategy: 'share', percent: 10 })
  await ada.post(`/envs/${first.environmentId}/restart`)
  await t.jobs.idle()
  expect(promoted()).toContain(second.id)
})
