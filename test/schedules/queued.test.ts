import { expect, test } from 'bun:test'
import { newId } from '../../src/db/new-id.ts'
import { insertDeployment, moveDeployment } from '../../src/deployments/store.ts'
import { insertRelease, makeLive } from '../../src/runtime/store.ts'
import { aLiveEnvironment } from '../runs/runs.ts'
import { simulatedApp } from '../support/app.ts'
import { until } from '../support/until.ts'

test('a run that waited for its turn runs in the image that is live when it starts', async () => {
  const t = simulatedApp()
  t.engine.addImage({ tags: ['busybox:latest'], command: ['sleep', '999'] })
  t.engine.addImage({ tags: ['next:latest'], command: ['sleep', '999'] })
  const env = await aLiveEnvironment({ t, collects: false })
  const { ada, id, live } = env
  const path = `/envs/${id}/schedules`
  const body = { name: 'works', command: 'sleep 999', schedule: '@yearly', overlap: 'queue' }
  const schedule = (await ada.post(path, body)).json
  const start = async () => (await ada.post(`${path}/${schedule.id}/run`)).json
  const [first, second] = [await start(), await start()]
  await until(() => env.isRunning(first))

  moveDeployment(t.db, { id: live.id, from: ['running'], status: 'superseded' })
  const next = insertDeployment(t.db, { ...live, id: newId(), image: 'next:latest' })
  const workload = { id, kind: 'app' } as const
  insertRelease(t.db, { workload, id: next.id, components: null, slots: [] })
  makeLive(t.db, { workloadId: id, releaseId: next.id, states: new Map() })
  const imageOf = async () => {
    const [container] = (await env.containers()).filter(({ state }) => state === 'running')
    return (await t.docker.inspectContainer(container!.id))!.image
  }
  expect(await imageOf()).toBe('busybox:latest')
  const [container] = await env.containers()
  await t.docker.stopContainer(container!.id)
  await env.ended(first)
  await until(() => env.isRunning(second))
  expect(await imageOf()).toBe('next:latest')
  await ada.post(`/envs/${id}/runs/${second.id}/cancel`)
})
