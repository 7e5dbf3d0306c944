import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import { idle, leftOf, made, untilService } from './instances.ts'

test('what was generated stays through every change, restart and new start', async () => {
  const { t, ada } = withAda(testApp())
  const compose = `
x-davit:
  name: Vault
  version: latest
  variables:
    KEY: { generate: hex, length: 32, secret: true }
    MODE: { default: a }
  connection: [{ label: Key, value: 'key:\${KEY}' }, { label: Mode, value: '\${MODE}' }]
services:
  v: { ${idle}, environment: { KEY: '\${KEY}', MODE: '\${MODE}' } }
`
  const service = await made(t, ada, compose)
  const secretOf = async () =>
    (await ada.get(`/services/${service.id}/secrets`)).json.connection[0].value as string
  const first = await secretOf()
  expect(first).toMatch(/^key:[0-9a-f]{32}$/)
  await ada.put(`/services/${service.id}`, { MODE: 'b', KEY: '' })
  await t.jobs.idle()
  await ada.post(`/services/${service.id}/restart`)
  await t.jobs.idle()
  for (const container of await t.docker.listContainers({
    labels: [`davit.service=${service.id}`],
  }))
    await t.docker.removeContainer(container.id, { force: true })
  await ada.post(`/services/${service.id}/restart`)
  await t.jobs.idle()
  expect(await secretOf()).toBe(first)
})

test('a service is deleted while a change of it is undone, and its start goes on and on', async () => {
  const { t, ada } = withAda(testApp())
  const stack = (command: string) => `
services:
  a:
    image: busybox
    command: ${command}
    init: true
    stop_grace_period: 1s
    volumes: ['data:/data']
    healthcheck: { test: [CMD, test, -e, /tmp/well], interval: 200ms, retries: 9999 }
volumes: { data: {} }
`
  const compose = stack(
    "[sh, -c, 'test -e /data/once || touch /tmp/well /data/once; exec sleep 999']",
  )
  const service = await made(t, ada, compose)
  expect(service.status).toBe('running')
  await ada.htmx('PUT', `/services/${service.id}`, { name: 'thing', compose: stack('["false"]') })
  await untilService(t, service, (now) => now.status === 'starting' && now.compose === compose)
  const deleted = await ada.delete(`/services/${service.id}?volumes=1`)
  expect(deleted.status).toBe(200)
  expect(await leftOf(t, service)).toEqual({ containers: [], networks: [], volumes: [] })
})
