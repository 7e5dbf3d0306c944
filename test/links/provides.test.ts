import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readTemplate } from '../../src/services/compose/template.ts'
import { providesOf } from '../../src/services/provides.ts'
import { getService, updateService } from '../../src/services/store.ts'
import { definitionOf } from '../../src/services/stored-definition.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'

/** What apps get of each template that they connect to, when no key is chosen. */
const proposed: Record<string, Record<string, string>> = {
  postgresql: { DATABASE_URL: 'postgresql://davit:secret12@main:5432/app' },
  mysql: { DATABASE_URL: 'mysql://davit:secret12@main:3306/app' },
  mariadb: { DATABASE_URL: 'mysql://davit:secret12@main:3306/app' },
  redis: { REDIS_URL: 'redis://default:secret12@main:6379/0' },
  valkey: { REDIS_URL: 'redis://default:secret12@main:6379/0' },
  mongodb: {
    MONGODB_URI: 'mongodb://davit:secret12@main:27017/?authSource=admin',
    MONGO_URL: 'mongodb://davit:secret12@main:27017/?authSource=admin',
  },
  rabbitmq: {
    AMQP_URL: 'amqp://davit:secret12@main:5672',
    RABBITMQ_URL: 'amqp://davit:secret12@main:5672',
  },
  nats: { NATS_URL: 'nats://davit:secret12@main:4222' },
  minio: {
    S3_ENDPOINT: 'http://main:9000',
    AWS_ENDPOINT_URL_S3: 'http://main:9000',
    AWS_ACCESS_KEY_ID: 'davit',
    AWS_SECRET_ACCESS_KEY: 'secret12',
    AWS_REGION: 'us-east-1',
  },
  meilisearch: { MEILISEARCH_HOST: 'http://main:7700', MEILISEARCH_API_KEY: 'secret12' },
  grafana: { MAIN_HOST: 'main', MAIN_PORT: '3000' },
}

const directory = join(import.meta.dir, '../../src/services/templates')
const textOf = (template: string) => Bun.file(join(directory, `${template}.yaml`)).text()

const providedBy = async (t: TestApp, id: string) =>
  providesOf(t.deps, await definitionOf(t.deps, getService(t.db, id)!))

/** An environment, and services of the catalogue whose images need not be there. */
async function aSite() {
  const { t, ada } = withAda(simulatedApp())
  const { id, path } = await anEnvironment(t, ada)
  const service = async (template: string, name = 'main') => {
    const file = readTemplate(await textOf(template), { file: template })
    const secrets = [...file.variables.values()].filter(({ secret }) => secret)
    const given = Object.fromEntries(
      secrets.map(({ name, pattern }) => [name, pattern?.includes('16') ? 'x' : 'secret12']),
    )
    const { json } = await ada.post(`/services/${template}`, { name, ...sized(given) })
    return json
  }
  const link = async (serviceId: string) =>
    (await ada.post(`/envs/${id}/links`, { serviceId })).json
  return { t, ada, id, path, service, link }
}

/** A key that has to be long is as long as it has to be. */
const sized = (given: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      value === 'x' ? 'secret12'.repeat(2) : value,
    ]),
  )

describe('an app gets of', () => {
  test.each(Object.entries(proposed))('%s what its clients read', async (template, wanted) => {
    const { t, service } = await aSite()
    const { id } = await service(template)
    const { values, proposes } = await providedBy(t, id)
    const entries = [...proposes].map(([key, name]) => [key, values.get(name)!] as const)
    expect(
      Object.fromEntries(
        entries.map(([key, { value }]) => [key, value.replaceAll('secret12secret12', 'secret12')]),
      ),
    ).toEqual(wanted)
    for (const [, { value, secret }] of entries) expect(secret).toBe(value.includes('secret12'))
  })
})

test('what an app gets follows a change of the file', async () => {
  const { t, ada, link } = await aSite()
  const compose = 'services: { web: { image: busybox, expose: [80] } }'
  const { id } = (await ada.post('/services/compose', { name: 'own', compose })).json
  const { id: linkId, environmentId } = await link(id)
  const portNow = async () =>
    (await ada.get(`/envs/${environmentId}/links/${linkId}`)).json.variables[1].value
  expect(await portNow()).toBe('80')
  updateService(t.db, id, { compose: compose.replace('80', '81') })
  expect(await portNow()).toBe('81')
})

test('a file that can’t be read any more leaves the pages of its service and of linked apps usable', async () => {
  const { t, ada, path: site, link } = await aSite()
  const compose = 'services: { web: { image: busybox, expose: [80] } }'
  const { id } = (await ada.post('/services/compose', { name: 'own', compose })).json
  const { id: linkId, environmentId } = await link(id)
  updateService(t.db, id, { compose: compose.replace('80', '70000') })
  const links = `/envs/${environmentId}/links`
  for (const path of [site, links, `${links}/${linkId}`, `/services/${id}`]) {
    expect((await ada.page(path)).status).toBe(200)
    expect((await ada.get(path)).status).toBe(200)
  }
  expect((await ada.page(`/envs/${environmentId}/variables`)).status).toBe(200)
  expect((await ada.page(`/services/${id}`)).text).toContain(
    'The file of the service own can’t be read',
  )
  expect((await ada.get(links)).json.items[0].variables[0]).toMatchObject({ value: null })
  expect((await ada.delete(`${links}/${linkId}`)).status).toBe(200)
})

test('a host that is also a name in another linked service is distinguished by its network', async () => {
  const { t, ada, id, service, link } = await aSite()
  const redis = await service('redis', 'redis')
  const stack = (
    await ada.post('/services/compose', {
      name: 'stack',
      compose: 'services: {redis: {image: busybox}, web: {image: busybox, ports: ["80"]}}',
    })
  ).json
  expect((await link(redis.id)).variables).toMatchObject([{ key: 'REDIS_URL', value: null }])
  const { id: linkId } = (await ada.get(`/envs/${id}/links`)).json.items[0]
  await ada.put(`/envs/${id}/links/${linkId}`, { variables: { REDIS_HOST: 'host' } })
  const valueNow = async () =>
    (await ada.get(`/envs/${id}/links/${linkId}`)).json.variables[0].value
  expect(await valueNow()).toBe('redis')
  expect((await link(stack.id)).variables).toMatchObject([
    { key: 'STACK_HOST', value: 'stack' },
    { key: 'STACK_PORT', value: '80' },
  ])
  expect(await valueNow()).toBe(`redis.davit-${redis.id}`)
  expect(t.db).toBeDefined()
})

test('a host that is also the name of an environment beside the app is distinguished, too', async () => {
  const { service, link } = await aSite()
  const { id } = await service('grafana', 'production')
  expect((await link(id)).variables[0]).toMatchObject({
    key: 'PRODUCTION_HOST',
    value: `production.davit-${id}`,
  })
  expect((await link((await service('grafana')).id)).variables[0].value).toBe('main')
})

test('a host is distinguished by its network for an app of a Compose file, whatever names that has', async () => {
  const { ada, id, path, service, link } = await aSite()
  const { id: serviceId } = await service('grafana')
  const { id: linkId } = await link(serviceId)
  const valueNow = async () =>
    (await ada.get(`/envs/${id}/links/${linkId}`)).json.variables[0].value
  expect(await valueNow()).toBe('main')
  const project = path.slice(0, path.indexOf('/envs/'))
  await ada.put(`${project}/settings`, { composeFile: 'compose.yaml' })
  expect(await valueNow()).toBe(`main.davit-${serviceId}`)
})

describe('a host', () => {
  test.each([
    ['Main DB', 'main-db'],
    ['Müller & Söhne', 'muller-sohne'],
    ['  --x--  ', 'x'],
    ['8080', 'service-8080'],
    ['0x7f', 'service-0x7f'],
    ['localhost', 'service-localhost'],
    ['数据库', 'service-1'],
    ['a'.repeat(60), 'a'.repeat(40)],
  ])('of %s is %s', async (name, host) => {
    const { ada } = withAda(simulatedApp())
    const compose = 'services: {web: {image: busybox}}'
    const { json } = await ada.post('/services/compose', { name, compose })
    expect(json.host).toBe(host)
  })

  test('of a component is its own, also where only other characters tell its name apart', async () => {
    const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
    const long = 'b'.repeat(59)
    const names = ['web', 'db_1', 'db-1', 'db.1', `${long}1`, `${long}2`]
    const parts = names.map((name) => `${name}: { image: busybox, expose: [80] }`).join(', ')
    const compose = `services: { ${parts} }`
    const { json } = await ada.post('/services/compose', { name: 'stack', compose })
    const { values } = await providedBy(t, json.id)
    const hosts = names.map((name) => values.get(`${name}_host`)?.value)
    expect(hosts.slice(0, 4)).toEqual(['stack', 'stack-db-1', 'stack-db-1-2', 'stack-db-1-3'])
    expect(new Set(hosts).size).toBe(names.length)
    for (const host of hosts) expect(host!.length).toBeLessThanOrEqual(63)
  })

  test('takes no name from a component that has it in the file', async () => {
    const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
    const compose =
      'services: { web: { image: busybox, ports: ["80"] }, db: { image: busybox, expose: [5432] }, ' +
      'cache: { image: busybox, expose: [6379], networks: { default: { aliases: [db-cache] } } } }'
    const { json } = await ada.post('/services/compose', { name: 'db', compose })
    const { values } = await providedBy(t, json.id)
    const hosts = ['', 'web_', 'db_', 'cache_'].map((of) => values.get(`${of}host`)?.value)
    expect(hosts).toEqual(['db-web', 'db-web', 'db-db', 'db-cache'])
  })

  test('is its owner’s own, and stays when the service is renamed', async () => {
    const { t, ada } = withAda(simulatedApp())
    const make = async (name: string, client = ada) =>
      (
        await client.post('/services/compose', {
          name,
          compose: 'services: {web: {image: busybox}}',
        })
      ).json
    const first = await make('Main')
    expect((await make('main')).host).toBe('main-2')
    expect((await make('main', t.logIn('bob@example.com'))).host).toBe('main')
    const renamed = await ada.put(`/services/${first.id}`, { name: 'Other' })
    expect(renamed.json).toMatchObject({ name: 'Other', host: 'main' })
  })
})
