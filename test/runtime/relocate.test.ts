import { expect, test } from 'bun:test'
import type { Placement } from '../../src/db/schema.ts'
import { firstServer } from '../../src/platform/root.ts'
import { apps } from '../../src/deployments/observe.ts'
import { relocate } from '../../src/runtime/relocate.ts'
import { insertInstance, listInstances, listLiveInstances } from '../../src/runtime/store.ts'
import { updateServer } from '../../src/servers/store.ts'
import { otherEngine } from '../support/other-engine.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { aComponent, aWorkload } from './workload.ts'

const { signal } = new AbortController()
const [second, third] = [serverId(2), serverId(3)]
const image = 'davit/site:one'

/** Two other servers, whose networks and first image are those of Davit’s own. */
async function threeServers() {
  const others = [otherEngine(2), otherEngine(3)]
  const otherEngines = others.map(({ docker }) => docker)
  const s = await aWorkload({ isSimulated: true, otherEngines })
  storeServers(s.db, [{}, { zone: 'away' }, { zone: 'away' }])
  for (const { engine } of others) Object.assign(engine, { networks: s.engine.networks })
  s.engine.addImage({ tags: [image], command: ['sleep', '99'] })
  const components = (replicas: number, volume?: string) => {
    const made = aComponent('one', { replicas, volume })
    return [{ ...made, options: { ...made.options, image } }]
  }
  const away: Placement = { labels: { zone: 'away' }, spread: 'servers' }
  Object.assign(s.workload, { placement: away })
  return {
    ...s,
    engines: s.engines,
    of: (id: string) => [s, ...others].find(({ engine }) => engine.serverId === id)!.engine,
    components,
    /** Its server has no power, for Davit and its swarm. */
    lose(id: string) {
      s.engines.setAway({ serverId: id }, true)
      s.engines.setLost({ serverId: id }, true)
    },
    move: (components: Parameters<typeof relocate>[1]['components']) =>
      relocate(s.deps, { workload: s.workload, components, signal }),
    liveOn: () => listLiveInstances(s.db, s.workload.id).map(({ serverId }) => serverId),
  }
}

test('what is lost runs elsewhere, and its old container goes when the server is back', async () => {
  const s = await threeServers()
  const components = s.components(2)
  await s.roll('one', { components })
  expect(s.liveOn().toSorted()).toEqual([second, third])
  const [old] = s.of(second).containers.keys()

  s.engines.setAway({ serverId: second }, true)
  await s.move(components)
  expect(s.liveOn().toSorted()).toEqual([second, third]) // away is not lost

  s.lose(second)
  await s.move(components)
  expect(s.liveOn()).toEqual([third, third])
  expect(s.of(third).containers.size).toBe(2)
  await s.move(components)
  expect(listInstances(s.db, s.workload.id)).toHaveLength(3)

  s.engines.setAway({ serverId: second }, false)
  expect(s.of(second).containers.has(old!)).toBe(true)
  await apps.observe(s.deps, s.workload.id, { orphans: true, signal })
  await s.instanceTasks.idle()
  expect(s.of(second).containers.size).toBe(0)
  expect(s.liveOn()).toEqual([third, third])
  expect(listInstances(s.db, s.workload.id)).toHaveLength(2)
})

test('what others wait for goes before them, also where it was replaced meanwhile', async () => {
  const s = await threeServers()
  const stack = (version: string) =>
    ['db', 'web'].map((name) => {
      const made = aComponent(name === 'db' ? version : 'kept', { name })
      return { ...made, options: { ...made.options, image } }
    })
  const names = () => listLiveInstances(s.db, s.workload.id).map(({ component }) => component)
  Object.assign(s.workload, { isWhole: true, placement: { server: second } })
  await s.roll('one', { components: stack('one') })
  await s.roll('two', { components: stack('two'), keepsUnchanged: true })
  expect(names()).toEqual(['web', 'db'])
  Object.assign(s.workload, { placement: { labels: { zone: 'away' }, spread: 'servers' } })
  s.lose(second)
  await s.move(stack('two'))
  expect(s.liveOn()).toEqual([third, third])
  expect(names()).toEqual(['db', 'web'])
})

test('a replica goes where no other one is', async () => {
  const s = await threeServers()
  Object.assign(s.workload, { placement: { labels: {}, spread: 'servers' } })
  const components = s.components(2)
  await s.roll('one', { components })
  const [kept, moved] = s.liveOn()
  s.lose(moved!)
  await s.move(components)
  const on = s.liveOn()
  expect(on).toContain(kept!)
  expect(new Set(on).size).toBe(2)
})

test('a server is drained start first, also of what is kept of the version before', async () => {
  const s = await threeServers()
  const components = s.components(1)
  await s.roll('one', { components })
  const [live] = listLiveInstances(s.db, s.workload.id)
  const { serverId, releaseId, workloadId } = live!
  const containerId = s.of(serverId).create({
    ...components[0]!.options,
    ...{ name: 'kept', network: 'bridge' },
  })
  insertInstance(s.db, {
    ...{ releaseId, workloadId, serverId, containerId, component: 'web' },
    state: 'standby',
  })
  updateServer(s.db, serverId, { isDraining: true })
  s.of(serverId).stop = () => {
    expect(s.liveOn()).not.toContain(serverId)
  }
  await s.move(components)
  await s.instanceTasks.idle()
  expect(s.liveOn()).toHaveLength(1)
  expect(s.of(serverId).containers.size).toBe(0)
})

test('what can’t run elsewhere stays as it is, and a failed start leaves nothing', async () => {
  const s = await threeServers()
  const components = s.components(1)
  await s.roll('one', { components })
  const [old] = listLiveInstances(s.db, s.workload.id)
  const other = old!.serverId === second ? third : second
  updateServer(s.db, old!.serverId, { isDraining: true })
  updateServer(s.db, other, { labels: {} })
  await expect(s.move(components)).rejects.toMatchObject({ code: 'no_server' })
  expect(listInstances(s.db, s.workload.id)).toEqual([old!])

  updateServer(s.db, other, { labels: { zone: 'away' } })
  s.of(other).start = () => {
    throw new Error('It has no memory left.')
  }
  await expect(s.move(components)).rejects.toThrow('no memory')
  expect(listInstances(s.db, s.workload.id)).toEqual([old!])
  expect(s.of(other).containers.size).toBe(0)
  expect(s.of(old!.serverId).containers.get(old!.containerId!)?.state).toBe('running')
})

test('what has volumes waits for its server, and nothing is asked of Davit’s own', async () => {
  const s = await threeServers()
  Object.assign(s.workload, { placement: null })
  const components = s.components(1, 'data')
  await s.roll('one', { components })
  expect(s.liveOn()).toEqual([firstServer])
  const before = s.taken.length
  await s.move(components)
  expect(s.taken.length).toBe(before)
})
