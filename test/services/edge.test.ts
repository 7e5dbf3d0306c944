import { expect, test } from 'bun:test'
import { edgeApp } from '../deployments/edge-app.ts'
import { withAda } from '../support/app.ts'
import { until } from '../support/until.ts'
import { made, settled } from './instances.ts'

const host = 'service.test'

/** A web server that says which port it was asked on. */
const twoPorts = `
services:
  web:
    image: busybox
    command: [sh, -c, 'mkdir /a /b; echo a > /a/index.html; echo b > /b/index.html; httpd -p 81 -h /b; exec httpd -f -p 80 -h /a']
    ports: ["80"]
    expose: ["81"]
    stop_grace_period: 1s
`

test('the domain of a service leads to its container, wherever that is, or to a page', async () => {
  const { t, ada } = withAda(await edgeApp())
  const service = await made(t, ada, twoPorts)
  const domain = (await ada.post(`/services/${service.id}/domains`, { host })).json
  await until(async () => (await t.text(host)) === 'a\n')

  await ada.put(`/domains/${domain.id}`, { target: 'web:81' })
  expect(await t.text(host)).toBe('b\n')

  await ada.post(`/services/${service.id}/stop`)
  await settled(t, ada, service)
  expect(await t.text(host)).toContain('This app is stopped')
  await ada.post(`/services/${service.id}/restart`)
  await settled(t, ada, service)
  await until(async () => (await t.text(host)) === 'b\n')

  await ada.delete(`/services/${service.id}`)
  await until(async () => (await t.get(host)).status === 404)
})
