import { expect, test } from 'bun:test'
import { services } from '../../src/db/schema.ts'
import { labelsFor } from '../../src/docker/labels.ts'
import { ownFile } from '../../src/services/own-file.ts'
import { sealValues } from '../../src/services/stored-definition.ts'
import { simulatedApp, testApp, withAda, withRoot } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { anOwn, aRunning, aStranger } from './engine.ts'

const verbs = ['', '/stop', '/restart'] as const

const ask = (client: TestClient, id: string, verb: (typeof verbs)[number]) =>
  verb === '' ? client.get(`/containers/${id}`) : client.post(`/containers/${id}${verb}`)

const withoutRequestId = ({ requestId, ...rest }: Record<string, unknown>) => rest

test('only a whole id is an id: no prefix, no name, nothing that leads elsewhere', async () => {
  const { t, root } = withRoot(testApp())
  const id = await aStranger(t, 'sleep 99')
  const { name } = (await root.get(`/containers/${id}`)).json
  const bad = [
    id.slice(0, 12),
    id.slice(0, 63),
    `${id}0`,
    id.toUpperCase(),
    name,
    `..%2f${id}`,
    `..%2fcontainers%2f${id}`,
    `${id}%2fjson`,
    `${id}%3f`,
    `%00${id}`,
    '..%2f..',
    '%',
    "'",
    '0'.repeat(64),
    'g'.repeat(64),
    'a'.repeat(5000),
  ]
  for (const verb of verbs)
    for (const odd of bad)
      expect((await ask(root, odd, verb)).status, `${verb} ${odd.slice(0, 80)}`).toBe(404)
  expect(await t.docker.inspectContainer(id)).toMatchObject({ state: 'created' })
})

test('a container named like an id of another is not that other', async () => {
  const { t, root } = withRoot(testApp())
  const name = 'abcdef0123456789'.repeat(4)
  await aStranger(t, 'sleep 99', { name })
  for (const verb of verbs) expect((await ask(root, name, verb)).status, verb).toBe(404)
})

test('what is someone else’s or no one’s is missing for a member, and stays as it is', async () => {
  const t = simulatedApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const { id } = await aRunning(t, ada)
  const stranger = await aStranger(t, 'sleep 999')
  await t.docker.startContainer(stranger)
  const before = [await t.docker.inspectContainer(id), await t.docker.inspectContainer(stranger)]

  for (const verb of verbs) {
    const missing = await ask(bob, '0'.repeat(64), verb)
    expect(missing.status).toBe(404)
    for (const foreign of [id, stranger]) {
      const answer = await ask(bob, foreign, verb)
      expect(answer.status, verb).toBe(404)
      expect(withoutRequestId(answer.json)).toEqual(withoutRequestId(missing.json))
    }
  }

  expect((await bob.get('/containers/api')).json).toEqual({ containers: [] })
  const after = [await t.docker.inspectContainer(id), await t.docker.inspectContainer(stranger)]
  expect(after).toEqual(before)
})

test('labels prove nothing: what they name must be there and agree', async () => {
  const t = simulatedApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const own = await anOwn(t, ada, 'sleep 999')
  const bobs = await anOwn(t, bob, 'sleep 999')
  const spoofed: Record<string, string>[] = [
    own.labels, // a second container that says it is that deployment's
    { ...own.labels, 'davit.instance': 'another' },
    { ...own.labels, 'davit.deployment': Bun.randomUUIDv7() },
    { ...bobs.labels, 'davit.owner': ada.user.id },
    { ...own.labels, 'davit.project': bobs.project.id },
    { ...own.labels, 'davit.environment': bobs.environment.id },
    labelsFor({ instanceId: t.instanceId, kind: 'app', ownerId: ada.user.id }),
    labelsFor({ instanceId: t.instanceId, kind: 'service', ownerId: ada.user.id, serviceId: 'x' }),
    labelsFor({ instanceId: t.instanceId, kind: 'build', ownerId: ada.user.id }),
  ]
  for (const labels of spoofed) {
    const id = await aStranger(t, 'sleep 999', { labels })
    for (const client of [ada, bob])
      for (const verb of verbs)
        expect((await ask(client, id, verb)).status, JSON.stringify(labels)).toBe(404)
  }
  const { containers } = (await ada.get('/containers/api')).json
  expect(containers.map(({ id }: { id: string }) => id)).toEqual([own.id])
})

test('a container of a service belongs to who has the service', async () => {
  const t = simulatedApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const serviceId = Bun.randomUUIDv7()
  const file = { template: ownFile, compose: 'services: { cache: { image: busybox } }' }
  const service = t.db
    .insert(services)
    .values({
      id: serviceId,
      ownerId: ada.user.id,
      name: 'cache',
      version: '',
      ...file,
      ...sealValues(t, { id: serviceId, values: new Map(), file: { variables: new Map() } }),
    })
    .returning()
    .get()
  const labels = labelsFor({
    instanceId: t.instanceId,
    kind: 'service',
    ownerId: ada.user.id,
    serviceId,
  })
  const id = await aStranger(t, 'sleep 999', { labels })
  expect((await ada.get(`/containers/${id}`)).json).toMatchObject({
    service: service.id,
    own: true,
  })
  expect((await ada.page('/containers')).text).toContain(`href="/services/${service.id}"`)
  expect((await bob.get(`/containers/${id}`)).status).toBe(404)
})

test('an admin sees everything on the engine, and whose it is', async () => {
  const { t, ada } = withAda(simulatedApp())
  const root = t.logInAsAdmin()
  const own = await anOwn(t, ada, 'sleep 999')
  const stranger = await aStranger(t, 'sleep 999')

  const { containers } = (await root.get('/containers/api')).json
  const found = (id: string) => containers.find((container: { id: string }) => container.id === id)
  expect(found(own.id)).toMatchObject({ project: own.project.id, own: true })
  expect(found(stranger)).toMatchObject({ project: null, environment: null, own: false })

  const pageOf = async ({ id }: { id: string }) => {
    const { name } = (await root.get(`/containers/${id}`)).json
    return (await root.page(`/containers?q=${name}`)).text
  }
  expect(await pageOf(own)).toContain('of ada@example.com')
  expect(await pageOf({ id: stranger })).toContain('Other containers')
  expect((await ada.page('/containers')).text).not.toContain('Other containers')
  expect((await root.get(`/containers/${stranger}`)).status).toBe(200)
})

test('a container that vanishes while it is read is missing, and the answer says so', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id } = await aRunning(t, ada)
  expect((await ada.get(`/containers/${id}`)).status).toBe(200)
  const { stopContainer, restartContainer } = t.docker
  const gone = () => t.docker.removeContainer(id, { force: true })
  t.faults.stopContainer = async (...args) => (await gone(), stopContainer(...args))
  t.faults.restartContainer = async (...args) => (await gone(), restartContainer(...args))

  const answer = await ada.post(`/containers/${id}/stop`)
  expect(answer.status).toBe(404)
  expect(answer.json.detail).toContain('or was removed')
  expect((await ada.get(`/containers/${id}`)).status).toBe(404)
  expect((await ada.post(`/containers/${id}/restart`)).status).toBe(404)
})
