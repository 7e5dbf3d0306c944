import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import { leftOf, made, untilService } from './instances.ts'

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
