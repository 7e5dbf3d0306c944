import { expect, test } from 'bun:test'
import { whileHeld } from '../api/under-way.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { answerOf, idle, leftOf, made, reaches, settled, site } from './instances.ts'

test('a service starts, answers at its address, and is the owner’s alone', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, site)
  expect(service).toMatchObject({ status: 'running', error: null, version: null })
  expect(service.containers).toMatchObject([{ part: 'web', state: 'running', service: service.id }])
  expect(await answerOf(service)).toBe('hello')
  const [container] = await t.docker.listContainers({
    labels: [`davit.service=${service.id}`],
  })
  expect(container!.labels).toMatchObject({
    'davit.instance': t.instanceId,
    'davit.owner': ada.user.id,
    'davit.kind': 'service',
  })
  const bob = t.logIn('bob@example.com')
  expect((await bob.get(`/services/${service.id}`)).status).toBe(404)
  expect((await bob.get('/services')).json.instances).toEqual([])
})

test('containers start in the order in which they depend on each other', async () => {
  const t = testApp()
  const service = await made(
    t,
    t.logIn('ada@example.com'),
    `
services:
  app:
    image: busybox
    init: true
    stop_grace_period: 1s
    command: [sh, -c, 'test -f /data/migrated && wget -q -O - http://db && exec sleep 999']
    volumes: [data:/data]
    depends_on:
      db: { condition: service_healthy }
      migrate: { condition: service_completed_successfully }
  db:
    image: busybox
    command: [sh, -c, 'sleep 1; mkdir /www; echo db > /www/index.html; exec httpd -f -p 80 -h /www']
    stop_grace_period: 1s
    healthcheck: { test: [CMD, wget, -q, -O, /dev/null, 'http://127.0.0.1'], interval: 200ms, retries: 30 }
  migrate:
    image: busybox
    command: [sh, -c, 'wget -q -O - http://db && touch /data/migrated']
    volumes: [data:/data]
    depends_on: { db: { condition: service_healthy } }
volumes: { data: {} }
`,
  )
  expect(service).toMatchObject({ status: 'running', error: null })
  const states = Object.fromEntries(
    service.containers.map(({ part, state }: Record<string, string>) => [part, state]),
  )
  expect(states).toEqual({ app: 'running', db: 'running', migrate: 'exited' })
})

test('one that may end, ends with success, and no one minds', async () => {
  const t = simulatedApp()
  const service = await made(
    t,
    t.logIn('ada@example.com'),
    `services: {a: {${idle}}, once: {image: busybox, command: ["true"], restart: "no"}}`,
  )
  expect(service).toMatchObject({ status: 'running', error: null })
})

test('the last words of a failed start hide what is secret', async () => {
  const t = testApp({}, { config: { settleTime: 60_000 } })
  const compose = `services: {a: {image: busybox, command: [sh, -c, 'echo "it is $$DB_PASSWORD"; exit 1'], environment: {DB_PASSWORD: "\${DB_PASSWORD}"}}}`
  const ada = t.logIn('ada@example.com')
  const service = await made(t, ada, compose, { DB_PASSWORD: 'open sesame 1' })
  expect(service.error.hint).toContain('it is ***')
  expect((await ada.page(`/services/${service.id}`)).text).not.toContain('open sesame 1')
})

test('a start can be cancelled, and begun again', async () => {
  const { t, ada } = withAda(simulatedApp())
  const compose = `services: {a: {${idle}, healthcheck: {test: ["CMD", "test", "-f", "/tmp/well"], interval: 200ms, retries: 9999}}}`
  const { json } = await ada.post('/services/compose', { name: 'slow', compose })
  await reaches(t, json, 'starting')
  expect((await ada.post(`/services/${json.id}/restart`)).status).toBe(409)
  const cancelled = await ada.post(`/services/${json.id}/cancel`)
  expect(cancelled.status).toBe(200)
  expect(cancelled.json).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  expect(await leftOf(t, json)).toEqual({ containers: [], networks: [], volumes: [] })
  expect((await ada.post(`/services/${json.id}/cancel`)).status).toBe(409)

  const changed = await ada.put(`/services/${json.id}`, { compose: `services: {a: {${idle}}}` })
  expect(changed.json).toMatchObject({ status: 'running', error: null })
})

test('a service is stopped, and started again with its containers', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, site)
  const stopped = await ada.post(`/services/${service.id}/stop`)
  expect(stopped.json).toMatchObject({ status: 'stopped', containers: [{ state: 'exited' }] })
  expect((await ada.post(`/services/${service.id}/stop`)).status).toBe(409)
  const started = await ada.post(`/services/${service.id}/restart`)
  expect(started.json).toMatchObject({ status: 'running', url: service.url })
  expect(started.json.containers[0].id).toBe(service.containers[0].id)
  expect(await answerOf(service)).toBe('hello')

  await t.docker.removeContainer(service.containers[0].id, { force: true })
  await ada.post(`/services/${service.id}/restart`)
  const remade = await settled(t, ada, service)
  expect(remade.status).toBe('running')
  expect(remade.containers[0].id).not.toBe(service.containers[0].id)
})

test('a restart that is cancelled leaves it running, and a start leaves it stopped', async () => {
  const { t, ada } = withAda(simulatedApp())
  const service = await made(t, ada, `services: {a: {${idle}}}`)
  const path = `/services/${service.id}`
  const cancel = () => ada.post(`${path}/cancel`)
  await whileHeld(t, 'stopContainer', { begin: () => ada.post(`${path}/restart`), end: cancel })
  expect(await settled(t, ada, service)).toMatchObject({
    status: 'running',
    error: null,
    containers: [{ state: 'running' }],
  })
  await ada.post(`${path}/stop`)
  const start = Promise.withResolvers<never>()
  const asked = Promise.withResolvers<void>()
  t.faults.startContainer = () => (asked.resolve(), start.promise)
  void ada.post(`${path}/restart`)
  await asked.promise
  const cancelled = cancel()
  delete t.faults.startContainer
  start.reject(new Error('gone'))
  await cancelled
  expect((await settled(t, ada, service)).containers).toMatchObject([{ state: 'exited' }])
})

test('an engine that repeats a secret in its refusal does not bring it to the page', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(
    t,
    ada,
    'services: { app: { image: busybox, user: "${LOGIN_SECRET}", command: [sleep, "9"] } }',
    { LOGIN_SECRET: 'nobody-knows-me' },
  )
  expect(service.status).toBe('failed')
  expect(service.error.message).toContain('***')
  expect(JSON.stringify(service)).not.toContain('nobody-knows-me')
})
