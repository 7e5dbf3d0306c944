import { expect, test } from 'bun:test'
import { listServiceDomains, usualTarget } from '../../src/runtime/routing-store.ts'
import { idle } from '../services/instances.ts'
import { testApp, withAda } from '../support/app.ts'

const both = `
services:
  web: { ${idle}, ports: ['8080'] }
  api: { ${idle}, expose: ['9090'] }`
const webAlone = `
services:
  web: { ${idle}, ports: ['8080'] }`
const nothingPublished = `
services:
  web: { ${idle}, ports: ['53/udp'] }
  api: { ${idle} }`

test('a file without what a domain leads to is refused by a sentence that names the domain', async () => {
  const { ada } = withAda(testApp({}, { jobsWait: true }))
  const service = (await ada.post('/services/compose', { name: 'shop', compose: both })).json
  const path = `/services/${service.id}`
  const add = (fields: object) => ada.post(`${path}/domains`, { ...fields })
  const change = (fields: object) => ada.put(path, { ...fields, preview: true })
  const named = (await add({ host: 'shop.test', path: '/api', target: 'api:9090' })).json

  const refused = await change({ compose: webAlone })
  expect(refused.status).toBe(422)
  expect(refused.json.errors).toEqual([
    {
      field: 'compose',
      message:
        'has no api:9090, but shop.test/api points to it. Change the target of that domain first, or delete it.',
    },
  ])
  expect((await change({ compose: webAlone, domains: [] })).status).toBe(200)

  await ada.put(`/domains/${named.id}`, { target: null })
  expect((await change({ compose: webAlone })).status).toBe(200)
  expect((await change({ compose: nothingPublished })).json.errors).toMatchObject([
    { message: expect.stringContaining('publishes no TCP port, but shop.test/api points to it') },
  ])

  await ada.put(`/domains/${named.id}`, { redirectTo: 'https://other.test' })
  expect((await change({ compose: nothingPublished })).status).toBe(200)
})

test('a domain leads to a port that is published by TCP and UDP, and to none of UDP alone', async () => {
  const { t, ada } = withAda(testApp({}, { jobsWait: true }))
  const ports = "['53/udp', '8443', '8443/udp']"
  const compose = `services: { web: { ${idle}, ports: ${ports} } }`
  const { id } = (await ada.post('/services/compose', { name: 'shop', compose })).json
  const { json } = await ada.post(`/services/${id}/domains`, { host: 'shop.test' })
  expect(json.target).toBe('web:8443')
  expect(listServiceDomains(t.db, id)).toMatchObject([
    { id: json.id, component: 'web', port: 8443 },
  ])

  const none = `services: { web: { ${idle}, ports: ['53/udp'] } }`
  const other = (await ada.post('/services/compose', { name: 'names', compose: none })).json
  expect(usualTarget(t.db, other.id)).toBeNull()
})

test('a name without a target is refused where no TCP port is published, wherever it is entered', async () => {
  const { ada } = withAda(testApp({}, { jobsWait: true }))
  const none = { name: 'names', compose: nothingPublished }
  const fieldsOf = ({ json }: { json: { errors: { field: string }[] } }) =>
    json.errors.map(({ field }) => field)
  const domains = ['a.test', 'b.test']
  expect(fieldsOf(await ada.post('/services/compose', { ...none, domains }))).toEqual(['domains'])
  const { id } = (await ada.post('/services/compose', none)).json
  const path = `/services/${id}`
  expect(fieldsOf(await ada.put(path, { domains }))).toEqual(['domains'])
  expect(fieldsOf(await ada.post(`${path}/domains`, { host: 'a.test' }))).toEqual(['target'])
  await ada.post(`${path}/domains`, { host: 'a.test', target: 'api:8080' })
  expect((await ada.put(path, { name: 'other', domains: ['a.test'] })).status).toBe(200)
  const served = { domains, compose: webAlone, preview: true }
  expect((await ada.put(path, { ...served, domains: ['b.test'] })).status).toBe(200)
})
