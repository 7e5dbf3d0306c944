import { expect, test } from 'bun:test'
import { jobs } from '../../src/db/schema.ts'
import { recoverServices } from '../../src/services/recover.ts'
import { getService, updateService } from '../../src/services/store.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { TestClient } from '../support/client.ts'
import { idle, leftOf, made, settled, site } from './instances.ts'

/** Davit as it starts again on the same state: what was at work is not. */
async function startAgain({ db, logDb, docker, deps }: TestApp, { user }: TestClient) {
  deps.jobs.stop = async () => {} // it died: what stands still is not waited for
  const next = simulatedApp({}, { db, logDb, docker })
  await recoverServices(next.deps, { signal: new AbortController().signal })
  return { next, ada: new TestClient(next.deps, next.app, user) }
}

const slow = `services: {a: {${idle}, volumes: ["data:/data"], healthcheck: {test: [CMD, test, -f, /data/well], interval: 200ms, retries: 9999}}}
volumes: {data: {}}`

/** Davit stands still for good when it asks the engine for this. */
function standStillAt(
  t: TestApp,
  call: 'inspectImage' | 'createContainer' | 'stopContainer' | 'startContainer',
) {
  const reached = Promise.withResolvers<void>()
  Object.assign(t.faults, { [call]: () => (reached.resolve(), new Promise(() => {})) })
  return { reached: reached.promise, goOn: () => void delete t.faults[call] }
}

test.each([
  ['pulling', 'inspectImage'],
  ['creating', 'createContainer'],
  ['starting', 'startContainer'],
] as const)(
  'a start that Davit’s end interrupts while %s is taken up again',
  async (state, call) => {
    const { t, ada } = withAda(simulatedApp())
    const { reached, goOn } = standStillAt(t, call)
    const { json } = await ada.post('/services/compose', { name: 'slow', compose: site })
    await reached
    expect((await ada.get(`/services/${json.id}`)).json.status).toBe(state)

    goOn()
    const again = await startAgain(t, ada)
    expect(await settled(again.next, again.ada, json)).toMatchObject({
      status: 'running',
      error: null,
    })
    expect((await leftOf(t, json)).containers).toHaveLength(1)
  },
)

test('a deletion that was interrupted goes on as it was asked for', async () => {
  const { t, ada } = withAda(simulatedApp())
  const compose = `services: {a: {${idle}, volumes: ["data:/data"]}}
volumes: {data: {}}`
  const service = await made(t, ada, compose)
  updateService(t.db, service.id, { deletingAt: new Date(), deletingVolumes: true })
  await startAgain(t, ada)
  expect(await leftOf(t, service)).toEqual({ containers: [], networks: [], volumes: [] })
  expect((await ada.get(`/services/${service.id}`)).status).toBe(404)
})

test('a start that was interrupted can be cancelled by the next process', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { json } = await ada.post('/services/compose', { name: 'slow', compose: slow })
  await t.jobs.stop()
  const again = await startAgain(t, ada)
  const cancelled = await again.ada.post(`/services/${json.id}/cancel`)
  expect(cancelled.json).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  expect((await leftOf(t, json)).containers).toEqual([])
})

test('a start in which Davit died twice is given up, and leaves nothing', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { reached, goOn } = standStillAt(t, 'startContainer')
  const { json } = await ada.post('/services/compose', { name: 'slow', compose: slow })
  await reached
  goOn()
  t.db.update(jobs).set({ attempt: 2 }).run()
  const again = await startAgain(t, ada)
  expect(await settled(again.next, again.ada, json)).toMatchObject({
    status: 'failed',
    error: { code: 'interrupted', step: 'starting' },
  })
  expect((await leftOf(t, json)).containers).toEqual([])
})

test.each(['inspectImage', 'createContainer', 'stopContainer', 'startContainer'] as const)(
  'a change that Davit’s end interrupts at %s begins again from what ran before',
  async (call) => {
    const { t, ada } = withAda(simulatedApp())
    const compose = `services: {a: {${idle}}}`
    const service = await made(t, ada, compose)
    const { reached, goOn } = standStillAt(t, call)
    const changed = compose.replace('999', '998')
    await ada.htmx('PUT', `/services/${service.id}`, { name: 'thing', compose: changed })
    await reached
    expect(getService(t.db, service.id)).toMatchObject({ compose })

    goOn()
    const again = await startAgain(t, ada)
    const after = await settled(again.next, again.ada, service)
    expect(after).toMatchObject({ status: 'running', error: null })
    expect(getService(t.db, service.id)).toMatchObject({ compose: changed })
    expect(await leftOf(t, service)).toMatchObject({ containers: [after.containers[0].name] })
    expect(after.containers[0].id).not.toBe(service.containers[0].id)
  },
)

test('a change that Davit’s end interrupts goes on, and is undone when it does not come up', async () => {
  const { t, ada } = withAda(simulatedApp())
  const compose = `services: {a: {${idle}}}`
  const service = await made(t, ada, compose)
  const { reached, goOn } = standStillAt(t, 'createContainer')
  const broken = compose.replace('init: true, command: [sleep, "999"]', 'command: [/no/such]')
  await ada.htmx('PUT', `/services/${service.id}`, { name: 'thing', compose: broken })
  await reached

  goOn()
  const again = await startAgain(t, ada)
  const after = await settled(again.next, again.ada, service)
  expect(after.error.message).toStartWith('The change was undone.')
  expect(getService(t.db, service.id)).toMatchObject({ compose, status: 'running' })
})
