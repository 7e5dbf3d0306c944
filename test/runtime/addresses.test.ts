import { describe, expect, test } from 'bun:test'
import { instances, releases, workloads } from '../../src/db/schema.ts'
import { freeSubnet } from '../../src/docker/index.ts'
import { refuseFullNetwork, reserveAddresses } from '../../src/runtime/addresses.ts'
import { listHeld } from '../../src/runtime/endpoint-store.ts'
import { updateInstance } from '../../src/runtime/store.ts'
import { sandbox } from '../docker/sandbox.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { newWorkload } from './workload.ts'

const { docker, labels, name, options } = sandbox()
const { signal } = new AbortController()

type Row = { id: string; containerId: string | null }

/** A network of that size, of a service where one is given, and a workload whose instances are to be on it. */
async function aNetwork(prefix: number, { compose }: { compose?: string } = {}) {
  const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
  const { id: workloadId } = await newWorkload(ada)
  t.db.insert(workloads).values({ id: workloadId, environmentId: workloadId }).run()
  const release = t.db.insert(releases).values({ workloadId }).returning().get()

  const service = compose && (await ada.post('/services/compose', { name: 'Main store', compose }))
  const network = `davit-${service ? service.json.id : name()}`
  const used = await docker.usedSubnets()
  const subnet = freeSubnet({ pool: '10.244.0.0/16', prefix, used })
  await docker.createNetwork({ name: network, subnet, labels })
  const base = subnet.split('/')[0]!
  const first = Number(base.split('.')[3])

  const anInstance = () =>
    t.db
      .insert(instances)
      .values({ releaseId: release.id, workloadId, component: 'web' })
      .returning()
      .get()
  const reserve = async (replaced: Row[] = []) => {
    const instance = anInstance()
    const of = { network, instances: [instance], replaced, signal }
    const { addresses, takenOver } = await reserveAddresses({ db: t.db, docker }, of)
    const address = addresses.get(instance.id)!
    expect(listHeld(t.db, network).get(instance.id)).toBe(address)
    return { ...instance, address, at: Number(address.split('.')[3]) - first, takenOver }
  }
  const refuse = (wanted: number, id = workloadId) => {
    const workload = { id, projectId: network.slice('davit-'.length) }
    return refuseFullNetwork({ db: t.db, docker }, { workload, wanted })
  }
  const free = (id: string) => updateInstance(t.db, id, { state: 'removed' })
  return { db: t.db, network, base, first, reserve, refuse, free, anInstance }
}

describe('an address', () => {
  test('is the next one, and one that was freed rests until all others were given', async () => {
    const { reserve, free } = await aNetwork(28)
    const given = [await reserve(), await reserve()]
    expect(given.map(({ at }) => at)).toEqual([8, 9])
    free(given[1]!.id)
    expect((await reserve()).at).toBe(10)
    for (const at of [11, 12, 13, 14, 9]) expect((await reserve()).at).toBe(at)
  })

  test('is none of those that containers have, whoever joined them, or keep while stopped', async () => {
    const { network, base, first, reserve } = await aNetwork(28)
    const at = (n: number) => base.replace(/\d+$/, String(first + n))
    const kept = await docker.createContainer({ ...options(), network, address: at(9) })
    const runs = await docker.createContainer({
      ...options(),
      network,
      address: at(8),
      command: ['sleep', '99'],
    })
    await docker.startContainer(runs)
    expect((await reserve()).at).toBe(10)
    await docker.removeContainer(kept)
    for (const n of [11, 12, 13, 14, 9]) expect((await reserve()).at).toBe(n)
  })

  test('is taken from the lower half only when the upper half is full', async () => {
    const { reserve } = await aNetwork(29)
    const order = []
    for (let n = 0; n < 5; n++) order.push((await reserve()).at)
    expect(order).toEqual([4, 5, 6, 2, 3])
  })

  test('is taken over from one that stops first where none is free', async () => {
    const { reserve } = await aNetwork(29)
    const all = []
    for (let n = 0; n < 5; n++) all.push(await reserve())
    const replaced = all[2]!
    const next = await reserve([replaced])
    expect(next).toMatchObject({ address: replaced.address, takenOver: [{ id: replaced.id }] })
  })
})

test('a full network is refused with an explanation, and says what to do', async () => {
  const { reserve } = await aNetwork(29)
  for (let n = 0; n < 5; n++) await reserve()
  const error = await reserve().catch((error) => error)
  expect(error).toMatchObject({
    code: 'network_full',
    message: expect.stringMatching(/^The network is full: all 5 addresses of .*\/29 are in use\.$/),
    hint: expect.stringContaining('another project'),
  })
})

test('one that is the network of a service says whose it is', async () => {
  const compose = 'services: { data: { image: busybox } }'
  const { reserve } = await aNetwork(29, { compose })
  for (let n = 0; n < 5; n++) await reserve()
  expect(await reserve().catch((error) => error)).toMatchObject({
    message: expect.stringMatching(/^The network of the service Main store is full: all 5 /),
    hint: expect.stringContaining('Unlink apps'),
  })
})

test('a /26 has room for 61, and a request for more is refused', async () => {
  const { reserve, refuse } = await aNetwork(26)
  for (let n = 0; n < 60; n++) await reserve()
  await refuse(1, 'another')
  await reserve()
  expect(await refuse(1, 'another').catch((error) => error)).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('all 61 addresses'),
  })
  await refuse(61) // its own containers may be replaced
})
