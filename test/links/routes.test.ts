import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditEvents } from '../../src/db/schema.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { idle } from '../services/instances.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { aFolder } from '../support/folder.ts'

const about = (more: string) => `
x-davit:
  name: Store
  version: '1'
  variables:
    STORE_PASSWORD: { generate: password, secret: true }
    STORE_USER: { default: app }
  provides:
    url: 'store://\${STORE_USER}:\${STORE_PASSWORD}@\${HOST}:7000'
    user: '\${STORE_USER}'
    host: '\${HOST}'
  ${more}
services:
  data:
    { ${idle}, healthcheck: { disable: true },
      environment: { U: '\${STORE_USER}', P: '\${STORE_PASSWORD}' } }
`
const store = about('proposes: { STORE_URL: url, STORE_USER: user }')

/** An environment of Ada's, and a directory of templates with one that apps connect to. */
async function aSite() {
  const directory = aFolder()
  writeFileSync(join(directory, 'store.yaml'), store)
  const { t, ada } = withAda(simulatedApp({ DAVIT_TEMPLATES_DIR: directory }))
  const { id } = await anEnvironment(t, ada)
  const path = `/envs/${id}/links`
  const service = async (name: string, compose = store) =>
    (await ada.post('/services/compose', { name, compose })).json
  const add = (fields: Record<string, unknown>) => ada.post(path, fields)
  return { t, ada, id, path, service, add }
}

describe('a link', () => {
  test('is made with what the template proposes, and says what the app gets but secrets', async () => {
    const { ada, id, path, service, add } = await aSite()
    const { id: serviceId, name } = await service('Main')
    const { status, json } = await add({ serviceId })
    expect(status).toBe(201)
    expect(json).toEqual({
      id: expect.any(String),
      environmentId: id,
      service: { id: serviceId, name, template: 'compose', status: expect.any(String) },
      host: 'main',
      variables: [
        { key: 'STORE_URL', provides: 'url', value: null },
        { key: 'STORE_USER', provides: 'user', value: 'app' },
      ],
    })
    expect((await ada.get(`${path}/${json.id}`)).json).toMatchObject({ id: json.id, host: 'main' })
    expect((await ada.get(path)).json).toMatchObject({ items: [{ id: json.id }], nextCursor: null })
  })

  test('takes its variables as an object or as lines, and other ones later', async () => {
    const { ada, path, service, add } = await aSite()
    const { id: serviceId } = await service('main')
    const { json } = await add({ serviceId, variables: { A: 'url', B: 'host' } })
    expect(json.variables).toMatchObject([{ key: 'A' }, { key: 'B', value: 'main' }])
    const form = { variables: 'C=user\n\n D = host\n' }
    const changed = await ada.htmx('PUT', `${path}/${json.id}`, form)
    expect(changed.status).toBe(200)
    expect((await ada.get(`${path}/${json.id}`)).json.variables).toEqual([
      { key: 'C', provides: 'user', value: 'app' },
      { key: 'D', provides: 'host', value: 'main' },
    ])
    expect((await ada.put(`${path}/${json.id}`, {})).json.variables).toHaveLength(2)
    expect((await ada.put(`${path}/${json.id}`, { variables: {} })).json.variables).toEqual([])
    expect((await ada.delete(`${path}/${json.id}`)).status).toBe(200)
    expect((await ada.get(path)).json.items).toEqual([])
  })

  test('to a second service of the kind gets numbered keys', async () => {
    const { service, add } = await aSite()
    await add({ serviceId: (await service('one')).id })
    const { json } = await add({ serviceId: (await service('two')).id })
    expect(json.variables).toMatchObject([
      { key: 'STORE_URL_2', provides: 'url' },
      { key: 'STORE_USER_2', provides: 'user' },
    ])
  })

  test('to a service of the catalogue creates it in the same step, or nothing', async () => {
    const { t, ada, path, add } = await aSite()
    const refused = await add({ template: 'store', variables: { A: 'nothing' } })
    expect(refused.status).toBe(422)
    expect((await ada.get('/services')).json.instances).toEqual([])
    expect((await add({ template: 'store', NO_SUCH: 'x' })).status).toBe(422)
    expect((await add({ template: 'no-such' })).status).toBe(404)

    const { status, json } = await add({ template: 'store', STORE_USER: 'ada' })
    expect(status).toBe(201)
    expect(json).toMatchObject({
      service: { name: 'store', template: 'store' },
      variables: [{ key: 'STORE_URL' }, { key: 'STORE_USER', value: 'ada' }],
    })
    await t.jobs.idle()
    expect((await ada.get(path)).json.items).toMatchObject([{ service: { status: 'running' } }])
    const items = t.db.select().from(auditEvents).all()
    const actions = items.map(({ action }) => action)
    expect(actions).toContain('service.created')
    expect(actions).toContain('link.created')
  })
})

describe('it is refused', () => {
  test('to what is someone else’s, or not there', async () => {
    const { t, service, add, path } = await aSite()
    const bob = t.logIn('bob@example.com')
    const foreign = (await bob.post('/services/compose', { name: 'his', compose: store })).json.id
    const { json } = await add({ serviceId: (await service('main')).id })
    for (const serviceId of [foreign, Bun.randomUUIDv7()])
      expect((await add({ serviceId })).status).toBe(404)
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const body = method === 'PUT' ? { variables: '' } : undefined
      const answer = await bob.htmx(method, `${path}/${json.id}`, body)
      expect(answer.status).toBe(404)
    }
  })

  test.each([
    [{}, 'serviceId'],
    [{ serviceId: Bun.randomUUIDv7(), template: 'store' }, 'serviceId'],
    [{ variables: { '1A': 'url' } }, 'variables'],
    [{ variables: { 'A B': 'url' } }, 'variables'],
    [{ variables: { A: 'uri' } }, 'variables'],
    [{ variables: { A: '' } }, 'variables'],
    [{ variables: { A: 7 } }, 'variables'],
    [{ variables: ['A'] }, 'variables'],
    [{ variables: { A: 'toString' } }, 'variables'],
  ])('with %j', async (fields, field) => {
    const { service, add } = await aSite()
    const { id: serviceId } = await service('main')
    const { status, json } = await add('variables' in fields ? { serviceId, ...fields } : fields)
    expect(status).toBe(422)
    expect(json.errors).toMatchObject([{ field }])
  })

  test('with the names of what there is', async () => {
    const { service, add } = await aSite()
    const { id: serviceId } = await service('main')
    const { json } = await add({ serviceId, variables: { A: 'uri' } })
    expect(json.detail).toContain('the service doesn’t provide. It provides url, user, host.')
  })

  test('twice to the same service, and with a key that another link has', async () => {
    const { service, add } = await aSite()
    const { id: serviceId } = await service('one')
    await add({ serviceId })
    const again = await add({ serviceId })
    expect(again.status).toBe(422)
    expect(again.json.detail).toContain('already linked')
    const other = await service('two')
    const taken = await add({ serviceId: other.id, variables: { STORE_URL: 'url' } })
    expect(taken.status).toBe(422)
    expect(taken.json.detail).toContain('already comes from one')
  })
})

test('what was secret stays hidden in the app’s logs when a link or its service is removed', async () => {
  const { t, ada, id, path, service, add } = await aSite()
  const shown = async (text: string) => (await t.deps.masks.of(id)).mask(text)
  const passwords: string[] = []
  for (const name of ['one', 'two']) {
    const made = await service(name)
    const { json } = await add({ serviceId: made.id })
    await t.jobs.idle()
    const { connection } = (await ada.get(`/services/${made.id}/secrets`)).json
    passwords.push(connection.at(-1).value)
    if (name === 'one') await ada.delete(`${path}/${json.id}`)
    else await ada.delete(`/services/${made.id}`, { force: true })
  }
  expect((await ada.get(path)).json.items).toEqual([])
  for (const password of passwords) expect(await shown(`with ${password}`)).toBe('with ***')
})
