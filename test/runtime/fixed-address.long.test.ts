import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { endpoints, instances } from '../../src/db/schema.ts'
import { reserveAddresses } from '../../src/runtime/addresses.ts'
import { aProject, anApp, answerOf } from '../deployments/apps.ts'
import { idle, made, settled } from '../services/instances.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'

/** What a container was given, whether it runs or not. */
async function addressOf({ db }: TestApp, containerId: string) {
  const row = db
    .select({ network: endpoints.network, address: endpoints.address })
    .from(endpoints)
    .innerJoin(instances, eq(instances.id, endpoints.instanceId))
    .where(eq(instances.containerId, containerId))
    .get()!
  return { network: row.network, address: row.address! }
}

/** A container that someone joins to a network by hand, to get what address there is. */
async function aStranger({ docker, instanceId }: TestApp, network: string) {
  const id = await docker.createContainer({
    name: `stranger-${Bun.randomUUIDv7()}`,
    image: 'busybox',
    command: ['sleep', '999'],
    labels: { 'davit.instance': instanceId }, // removed with what the test made
    network,
    memoryBytes: 16 * 2 ** 20,
    cpus: 0.1,
    pidsLimit: 8,
  })
  await docker.startContainer(id)
  return (await docker.inspectContainer(id))!.addresses[network]
}

/** Gives so many more containers of the same workload an address on its network, or on that one. */
async function fill(t: TestApp, containerId: string, count: number, network?: string) {
  const one = t.db.select().from(instances).where(eq(instances.containerId, containerId)).get()!
  const { releaseId, workloadId, component, state } = one
  const own = await addressOf(t, containerId)
  const { signal } = new AbortController()
  for (let n = 0; n < count; n++) {
    const row = { releaseId, workloadId, component, state }
    const added = [t.db.insert(instances).values(row).returning().get()]
    const of = { network: network ?? own.network, instances: added, replaced: [], signal }
    await reserveAddresses(t, of)
  }
}

test('an app keeps its address while it is stopped, whatever joins its network meanwhile', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('first'))
  const { containerId: id } = await project.deploy()
  const { network, address } = await addressOf(t, id)
  const addresses = async () => (await t.docker.inspectContainer(id))!.addresses
  expect(await addresses()).toEqual({ [network]: address })

  await ada.post(`/containers/${id}/stop`)
  const staging = await ada.post(`/projects/${project.id}/envs`, { name: 'staging' })
  const other = await project.deploy({ environmentId: staging.json.id })
  expect((await addressOf(t, other.containerId)).address).not.toBe(address)
  expect(await aStranger(t, network)).not.toBe(address)
  expect((await ada.post(`/containers/${id}/restart`)).status).toBe(200)
  expect(await addresses()).toEqual({ [network]: address })
  expect(await answerOf(other)).toBe('first')
})

test('a service keeps its addresses through a stop and a restart', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, `services: {a: {${idle}}, b: {${idle}}}`)
  const addressesOf = async () => {
    const { containers } = (await ada.get(`/services/${service.id}`)).json
    const found = containers.map(({ id }: { id: string }) => t.docker.inspectContainer(id))
    return (await Promise.all(found)).map((container) => container!.addresses)
  }
  const before = await addressesOf()
  expect(new Set(before.flatMap((of) => Object.values(of))).size).toBe(2)
  await ada.post(`/services/${service.id}/stop`)
  await aStranger(t, Object.keys(before[0]!)[0]!)
  await ada.post(`/services/${service.id}/restart`)
  expect(await settled(t, ada, service)).toMatchObject({ status: 'running' })
  expect(await addressesOf()).toEqual(before)
})

test('a full network is refused at the request, but not to an app that is replaced', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('first'))
  const first = await project.deploy()
  const { network, address } = await addressOf(t, first.containerId)
  const { json: crowd } = await ada.post(`/projects/${project.id}/envs`, { name: 'crowd' })
  const inCrowd = await project.deploy({ environmentId: crowd.id })
  await fill(t, inCrowd.containerId, 59)

  const { json: late } = await ada.post(`/projects/${project.id}/envs`, { name: 'late' })
  const deploy = () => ada.post(`/projects/${project.id}/deployments`, { environmentId: late.id })
  const refused = await deploy()
  expect(refused.status).toBe(409)
  expect(refused.json.detail).toMatch(/^The network is full: all 61 addresses .* another project/)

  const again = await project.deploy()
  expect(again).toMatchObject({ status: 'running', error: null })
  expect(await addressOf(t, again.containerId)).toEqual({ network, address })

  expect((await ada.delete(`/projects/${project.id}/envs/${crowd.id}`)).status).toBe(200)
  expect((await deploy()).status).toBe(201)
  await t.jobs.idle()
})

test('a change of a service is refused at the request where its network has no room', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, `services: {a: {${idle}}}`)
  const project = await aProject(t, ada, anApp('first'))
  const { containerId } = await project.deploy()
  const { network } = await addressOf(t, service.containers[0].id)
  await fill(t, containerId, 60, network)
  const compose = `services: {a: {${idle}}, b: {${idle}}}`
  const refused = await ada.put(`/services/${service.id}`, { compose })
  expect(refused.status).toBe(409)
  expect(refused.json.detail).toContain('The network of the service thing is full')
})

test('a start of a service is refused at the request where its network has no room', async () => {
  const { t, ada } = withAda(testApp())
  const service = await made(t, ada, `services: {a: {${idle}}}`)
  const project = await aProject(t, ada, anApp('first'))
  const { containerId } = await project.deploy()
  const own = service.containers[0].id
  const { network } = await addressOf(t, own)
  await ada.post(`/services/${service.id}/stop`)
  await t.jobs.idle()
  await t.docker.removeContainer(own, { force: true })
  t.db.update(endpoints).set({ address: null }).where(eq(endpoints.network, network)).run()
  await fill(t, containerId, 61, network)
  const refused = await ada.post(`/services/${service.id}/restart`)
  expect(refused.status).toBe(409)
  expect(refused.json.detail).toContain('The network of the service thing is full')
  expect((await ada.get(`/services/${service.id}`)).json.status).toBe('stopped')
})
