import { expect, test } from 'bun:test'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { idle, leftOf, made, reaches } from './instances.ts'

const withData = `services: {a: {${idle}, volumes: ["data:/data"]}}
volumes: {data: {}}`

test('a deleted service leaves its volumes unless they are to go too', async () => {
  const { t, ada } = withAda(simulatedApp())
  const kept = await made(t, ada, withData)
  expect((await ada.get(`/services/${kept.id}/delete`)).json.volumes).toEqual([
    `davit-${kept.id}-data`,
  ])
  const answer = await ada.delete(`/services/${kept.id}`)
  expect(answer.status).toBe(200)
  expect(answer.json.removed.map(({ kind }: { kind: string }) => kind)).toEqual([
    'container',
    'network',
    'service',
  ])
  expect(await leftOf(t, kept)).toEqual({
    containers: [],
    networks: [],
    volumes: [`davit-${kept.id}-data`],
  })
  expect((await ada.get(`/services/${kept.id}`)).status).toBe(404)

  const gone = await made(t, ada, withData)
  await ada.delete(`/services/${gone.id}?volumes=1`)
  expect(await leftOf(t, gone)).toEqual({ containers: [], networks: [], volumes: [] })
})

test('a service is deleted in the middle of its start', async () => {
  const { t, ada } = withAda(simulatedApp())
  const compose = `services: {a: {${idle}, healthcheck: {test: [CMD, "false"], interval: 200ms, retries: 9999}}}`
  const { json } = await ada.post('/services/compose', { name: 'slow', compose })
  const answer = await ada.delete(`/services/${json.id}`, { volumes: true })
  expect(answer.status).toBe(200)
  expect(await leftOf(t, json)).toEqual({ containers: [], networks: [], volumes: [] })
  expect(t.db.$client.query('SELECT id FROM services').all()).toEqual([])
})

test('a deletion in the middle of a change does not bring the old containers back', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, `services: {a: {${idle}}}`)
  const compose = `services: {a: {${idle}, healthcheck: {test: [CMD, "false"], interval: 200ms, retries: 9999}}}`
  const changing = ada.put(`/services/${service.id}`, { compose })
  await reaches(t, service, 'starting')
  expect((await ada.delete(`/services/${service.id}`)).status).toBe(200)
  await changing
  expect(await leftOf(t, service)).toEqual({ containers: [], networks: [], volumes: [] })
})

test('what is deleted can’t be changed any more', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, `services: {a: {${idle}}}`)
  t.db.$client.run('UPDATE services SET deleting_at = 1')
  for (const verb of ['restart', 'stop', 'cancel'])
    expect((await ada.post(`/services/${service.id}/${verb}`)).status).toBe(409)
  expect((await ada.put(`/services/${service.id}`, { name: 'x' })).status).toBe(409)
  expect((await ada.get(`/services/${service.id}`)).json.deleting).toBe(true)
})
