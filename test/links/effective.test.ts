import { describe, expect, test } from 'bun:test'
import { links } from '../../src/db/schema.ts'
import { findOwnEnvironment } from '../../src/environments/store.ts'
import { effectiveVariables } from '../../src/links/effective.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { anEnvironment } from '../logs/collecting.ts'

const store = `
x-davit:
  name: Store
  version: '1'
  variables:
    STORE_PASSWORD: { default: 'p@ss/word', secret: true }
  provides:
    url: 'store://app:\${STORE_PASSWORD}@\${HOST}:7000/\${STORE_PASSWORD}'
    password: '\${STORE_PASSWORD}'
    host: '\${HOST}'
  proposes: { STORE_URL: url }
services:
  data: { image: busybox, healthcheck: { disable: true }, environment: { P: '\${STORE_PASSWORD}' } }
`

/** An environment, services of the same owner, and what the containers of the one are given. */
async function aSite() {
  const { t, ada } = withAda(simulatedApp())
  const { id, projectId } = await anEnvironment(t, ada)
  const service = async (compose: string, name: string) =>
    (await ada.post('/services/compose', { name, compose })).json
  const link = (serviceId: string, variables: Record<string, string>) =>
    t.db.insert(links).values({ environmentId: id, serviceId, variables }).run()
  const given = () =>
    effectiveVariables(t.deps, {
      ...findOwnEnvironment(t.db, { id, ownerId: ada.user.id }),
      deployment: { commitHash: 'abc123', branch: 'main' },
      url: 'http://site.example.com',
    })
  return { t, ada, id, projectId, service, link, given }
}

describe('an app is given', () => {
  test('what Davit knows of it', async () => {
    const { given } = await aSite()
    const { variables, joins } = await given()
    expect(Object.fromEntries(variables.map(({ key, value }) => [key, value]))).toMatchObject({
      DAVIT_COMMIT: 'abc123',
      DAVIT_BRANCH: 'main',
      DAVIT_ENVIRONMENT: 'production',
      DAVIT_APP_URL: 'http://site.example.com',
    })
    expect(variables.map(({ key }) => key)).toContain('DAVIT_PROJECT')
    expect(joins).toEqual([])
  })

  test('what its links provide, encoded where it stands in an address', async () => {
    const { service, link, given } = await aSite()
    const { id, host } = await service(store, 'Main Store')
    expect(host).toBe('main-store')
    link(id, { STORE_URL: 'url', PASSWORD: 'password', PLACE: 'host' })
    const { variables, joins } = await given()
    expect(joins).toEqual([id])
    expect(variables.filter(({ from }) => from === 'link')).toEqual([
      {
        key: 'STORE_URL',
        value: 'store://app:p%40ss%2Fword@main-store:7000/p%40ss%2Fword',
        secret: true,
        buildTime: false,
        from: 'link',
      },
      { key: 'PASSWORD', value: 'p@ss/word', secret: true, buildTime: false, from: 'link' },
      { key: 'PLACE', value: 'main-store', secret: false, buildTime: false, from: 'link' },
    ])
  })

  test('its own value where a link or Davit has one of the same key', async () => {
    const { ada, id, service, link, given } = await aSite()
    link((await service(store, 'store')).id, { STORE_URL: 'url' })
    for (const key of ['STORE_URL', 'DAVIT_BRANCH'])
      await ada.post(`/envs/${id}/variables`, { key, value: 'mine' })
    const { variables } = await given()
    expect(variables.filter(({ value }) => value === 'mine')).toMatchObject([
      { key: 'DAVIT_BRANCH', from: 'own' },
      { key: 'STORE_URL', from: 'own' },
    ])
    expect(variables.map(({ key }) => key)).toHaveLength(6)
  })

  test('host and port of the components of a Compose file', async () => {
    const { service, link, given } = await aSite()
    const stack = `
services:
  inner: { image: busybox }
  web: { image: busybox, ports: ['8080'] }
  cache: { image: busybox, expose: [6379] }
`
    const { id } = await service(stack, 'Shop')
    link(id, { A: 'host', B: 'port', C: 'cache_host', D: 'cache_port', E: 'inner_host' })
    const { variables, missing } = await given()
    expect(variables.filter(({ from }) => from === 'link')).toMatchObject([
      { key: 'A', value: 'shop' },
      { key: 'B', value: '8080' },
      { key: 'C', value: 'shop-cache' },
      { key: 'D', value: '6379' },
    ])
    expect(missing).toEqual([{ key: 'E', provides: 'inner_host', service: 'Shop' }])
  })
})

test('a log of the app hides the secrets of linked services, also those of before', async () => {
  const { t, ada, id, service, link } = await aSite()
  const { id: serviceId } = await service(store, 'store')
  const shown = async (text: string) => (await t.deps.masks.of(id)).mask(text)
  const text = 'to store://app:p%40ss%2Fword@store:7000 with p@ss/word'
  expect(await shown(text)).toBe(text)
  link(serviceId, { STORE_URL: 'url' })
  const hidden = 'to store://app:***@store:7000 with ***'
  expect(await shown(text)).toBe(hidden)
  await t.jobs.idle()
  await ada.put(`/services/${serviceId}`, { STORE_PASSWORD: 'another-one' })
  await t.jobs.idle()
  expect(await shown(text)).toBe(hidden)
  expect(await shown('another-one')).toBe('***')
})
