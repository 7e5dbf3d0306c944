import { describe, expect, test } from 'bun:test'
import { freeHostPort } from '../../src/addresses/host-ports.ts'
import { placesOf } from '../../src/addresses/places.ts'
import { newId } from '../../src/db/new-id.ts'
import { giveUpServer } from '../../src/deployments/observe.ts'
import { EngineError } from '../../src/docker/index.ts'
import { reservePort } from '../../src/runtime/endpoint-store.ts'
import { pinnedTo } from '../../src/runtime/pins.ts'
import { insertInstance, listLiveInstances } from '../../src/runtime/store.ts'
import { observe } from '../../src/services/observe.ts'
import { deleteServer, listUsers, updateServer } from '../../src/servers/store.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { made, settled } from './instances.ts'

const [second, third] = [serverId(2), serverId(3)]
const signal = new AbortController().signal

const database = `
services:
  db:
    image: busybox
    command: [sleep, '999']
    ports: ['80']
    volumes: [data:/data]
volumes: { data: {} }
`

/** Three servers whose overlays are the same network; the third one’s engine does nothing. */
function servers() {
  const nothing = { containers: [], networks: [], volumes: [], images: [] }
  const other = new FakeEngine(realClock, { ...nothing, made: 1000 })
  other.serverId = second
  other.addImage({ tags: ['busybox:latest'], command: ['sleep', '99'] })
  const docker = fakeDocker(other, atOnce)
  const { t, ada } = withAda(simulatedApp({}, { otherEngines: [docker] }))
  for (const [id, network] of other.networks) t.engine.networks.set(id, network)
  Object.assign(other, { networks: t.engine.networks })
  storeServers(t.db, [{ zone: 'home' }, { zone: 'away', disk: 'ssd' }, { zone: 'away' }])
  function away(isAway: boolean) {
    t.engines.setAway({ serverId: second }, isAway)
    updateServer(t.db, second, { lastSeenAt: isAway ? new Date() : null })
  }
  return { t, ada, other, docker, away, on: { placement: { server: 'server2' } } }
}

const fields = ({ json }: { json: { errors?: { field: string }[] } }) =>
  json.errors?.map(({ field }) => field)

test('a service is made, restarted, stopped and deleted where it is placed', async () => {
  const { t, ada, other, on } = servers()
  const service = await made(t, ada, database, on)
  const [port] = service.ports
  expect(service).toMatchObject({
    ...{ status: 'running', placement: { server: second }, pinnedTo: second },
    ...{ url: `http://198.51.100.2:${port.host}`, containers: [{ serverId: second }] },
  })
  const [node] = (await ada.get('/map')).json.nodes.slice(-1)
  expect(node).toMatchObject({ id: service.id, note: 'Compose file on server2' })
  const all = () => [t.engine.containers.size, t.engine.volumes.size, other.volumes.size]
  expect(all()).toEqual([0, 0, 1])
  const container = () => [...other.containers.values()][0]!
  expect(container().options.ports).toEqual([
    expect.objectContaining({ address: '198.51.100.2', host: port.host }),
  ])
  expect([...container().endpoints.keys()]).toEqual([`davit-${service.id}-swarm`])
  const [on2] = container().endpoints.values()
  expect(on2!.aliases).toContain(`${service.host}.davit-${service.id}`) // as an app with another of its name is linked
  const { id } = container()

  for (const [act, status] of [
    ['restart', 'running'],
    ['stop', 'stopped'],
    ['restart', 'running'],
  ]) {
    await ada.post(`/services/${service.id}/${act}`)
    expect(await settled(t, ada, service)).toMatchObject({ status })
  }
  expect(container().id).toBe(id)
  await ada.put(`/services/${service.id}`, { compose: database.replace('999', '998') })
  expect(await settled(t, ada, service)).toMatchObject({ status: 'running', error: null })
  expect([container().id === id, ...all()]).toEqual([false, 0, 0, 1])

  await ada.delete(`/services/${service.id}`, { confirm: 'thing', volumes: true })
  expect([other.containers.size, ...all()]).toEqual([0, 0, 0, 0])
})

test('its labels mean one server, and its own one needs no placement', async () => {
  const { t, ada } = servers()
  const byLabel = { labels: { disk: 'ssd' }, spread: 'servers' }
  expect(await made(t, ada, database, { name: 'one', placement: byLabel })).toMatchObject({
    placement: { server: second },
  })
  const own = await made(t, ada, database, { name: 'two', placement: { server: 'server1' } })
  expect(own).toMatchObject({ placement: null, pinnedTo: serverId(1), status: 'running' })
})

describe('refused, with the field, is', () => {
  const onHost = 'services: { a: { image: busybox, network_mode: host } }'
  const cases: [string, object][] = [
    ['a server that doesn’t exist', { placement: { server: 'nowhere' } }],
    ['labels of two servers', { placement: { labels: { zone: 'away' }, spread: 'servers' } }],
    ['a server for the edge alone', { placement: { server: third } }],
  ]
  test.each(cases)('%s', async (_, body) => {
    const { t, ada } = servers()
    updateServer(t.db, third, { roles: ['edge'] })
    const refused = await ada.post('/services/compose', { name: 'a', compose: database, ...body })
    expect([refused.status, fields(refused)]).toEqual([422, ['placement']])
  })

  test('access to a server that isn’t Davit’s own, also by an admin', async () => {
    const { t, on } = servers()
    const root = t.logInAsAdmin()
    const { dangers } = (await root.post('/services/compose/configure', { compose: onHost })).json
    const allowed = dangers.map(({ key }: { key: string }) => key)
    const body = { name: 'a', compose: onHost, allowed }
    expect(fields(await root.post('/services/compose', { ...body, ...on }))).toEqual(['placement'])
    expect((await root.post('/services/compose', body)).status).toBe(201)
  })

  test('to go where its volumes aren’t', async () => {
    const { t, ada, on } = servers()
    const { id } = await made(t, ada, database, on)
    const put = (server: string) => ada.put(`/services/${id}`, { placement: { server } })
    for (const placement of ['server1', 'server3']) {
      const refused = await put(placement)
      expect([refused.status, fields(refused)]).toEqual([409, ['placement']])
    }
    expect((await put('server2')).status).toBe(200)
    expect((await ada.page(`/services/${id}/edit`)).text).not.toContain('name="placement"')
  })

  test('a domain that leads to a port that isn’t published there', async () => {
    const { t, ada, on } = servers()
    const { id, ports } = await made(t, ada, database, on)
    const add = (host: string, target: string) =>
      ada.post(`/services/${id}/domains`, { host, target })
    expect(fields(await add('a.test', 'db:81'))).toEqual(['target'])
    expect((await add('b.test', 'db:80')).status).toBe(201)
    const led: unknown[] = []
    t.edge.route = (_, to) => void led.push(to)
    t.routing.route({ id, kind: 'service' })
    expect(led).toEqual([[`198.51.100.2:${ports[0].host}`]])
  })
})

test('without volumes it goes to another server with its next start', async () => {
  const { t, ada, other, on } = servers()
  const compose = "services: { web: { image: busybox, command: [sleep, '9'], ports: ['80'] } }"
  const { id } = await made(t, ada, compose)
  expect(t.engine.containers.size).toBe(1)
  expect((await ada.page(`/services/${id}/edit`)).text).toContain('name="placement"')
  const { json } = await ada.put(`/services/${id}`, { ...on, preview: true })
  expect(json.changes).toMatchObject([{ field: 'placement', from: null, to: 'server2' }])
  await ada.put(`/services/${id}`, on)
  expect(await settled(t, ada, { id })).toMatchObject({ status: 'running', error: null })
  expect([t.engine.containers.size, other.containers.size]).toEqual([0, 1])
})

test('while its server is away it waits, and nothing of it is started elsewhere', async () => {
  const { t, ada, other, away, on } = servers()
  const { id } = await made(t, ada, database, on)
  const [container] = other.containers.keys()
  away(true)
  await observe(t.deps, id, { orphans: true, signal })
  const now = async () => (await ada.get(`/services/${id}`)).json
  expect(await now()).toMatchObject({ status: 'running', containers: [] })
  expect((await ada.page(`/services/${id}`)).text).toContain('It waits for <bdi>server2</bdi>')
  await ada.post(`/services/${id}/restart`)
  await t.jobs.idle()
  expect(await now()).toMatchObject({ status: 'running', error: { code: 'engine_unreachable' } })
  const refused = await ada.delete(`/services/${id}`, { confirm: 'thing' })
  expect([refused.status, t.engine.containers.size]).toEqual([503, 0])

  away(false)
  await observe(t.deps, id, { orphans: true, signal })
  expect(await now()).toMatchObject({ status: 'running' })
  expect([...other.containers.keys()]).toEqual([container!])
})

test('a first start that fails leaves nothing there, and it can be placed elsewhere', async () => {
  const { t, ada, other, docker, on } = servers()
  docker.startContainer = () => Promise.reject(new EngineError(500, 'no'))
  const { id } = await made(t, ada, database, on)
  expect((await ada.get(`/services/${id}`)).json).toMatchObject({
    status: 'failed',
    pinnedTo: null,
  })
  expect([other.containers.size, other.volumes.size]).toEqual([0, 0])
  expect((await ada.put(`/services/${id}`, { placement: null })).status).toBe(200)
  expect(await settled(t, ada, { id })).toMatchObject({ status: 'running', pinnedTo: serverId(1) })
})

test('what is on a server that is given up can be started elsewhere', async () => {
  const { t, ada, away, on } = servers()
  const { id } = await made(t, ada, database, on)
  expect(listUsers(t.db, second)).toMatchObject([{ href: `/services/${id}`, name: 'thing' }])
  away(true)
  giveUpServer(t.deps, second)
  deleteServer(t.db, second)
  expect([pinnedTo(t.db, id), listLiveInstances(t.db, id)]).toEqual([null, []])
  expect((await ada.get(`/services/${id}`)).json).toMatchObject({ status: 'stopped' })
  await ada.put(`/services/${id}`, { placement: null })
  expect(await settled(t, ada, { id })).toMatchObject({ status: 'running', pinnedTo: serverId(1) })
})

test('a service that has left the server that is given up runs on', async () => {
  const { t, ada, away } = servers()
  const { id } = await made(t, ada, database, {})
  const [live] = listLiveInstances(t.db, id)
  const left = { serverId: second, state: 'draining', containerId: null, slot: 1 } as const
  insertInstance(t.db, { ...live!, id: newId(), ...left })
  away(true)
  giveUpServer(t.deps, second)
  expect((await ada.get(`/services/${id}`)).json).toMatchObject({ status: 'running' })
})

test('its ports and those for requests there are never the same', async () => {
  const { t, ada, on } = servers()
  const { id } = await made(t, ada, database, { ...on, hostPort: 20_000 })
  const [instance] = listLiveInstances(t.db, id)
  const reserve = () => reservePort(t.db, { instance: instance!, address: '198.51.100.2' })
  expect(reserve()).toBe(true)
  const taken = await ada.post('/services/compose', {
    ...{ name: 'b', compose: database, hostPort: 20_001, ...on },
  })
  expect([taken.status, fields(taken)]).toEqual([409, ['hostPort']])
  const places = placesOf(t.deps, ada.user.id, second)
  expect(places).toMatchObject({ publishAddress: '198.51.100.2', isElsewhere: true })
  expect([20_000, 20_001]).not.toContain(freeHostPort(t.deps, places))
})
