import { eq } from 'drizzle-orm'
import { expect, test } from 'bun:test'
import { instances } from '../../src/db/schema.ts'
import { observe } from '../../src/deployments/observe.ts'
import { adoptRelease, listInstances } from '../../src/runtime/store.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { aDomain, anApp, aService, servedByCaddy } from '../map/owned.ts'
import { scraped } from '../metrics/scene.ts'
import { simulatedApp } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'

type Node = { name: string; state: string; project: { name: string } | null }

const second = serverId(2)

/** Apps and services on a second server, which is away; one app is on both. */
async function aFleet() {
  const t = simulatedApp()
  const root = t.logInAsAdmin()
  storeServers(t.db, [{}, {}])
  servedByCaddy(t)
  const there = await anApp(t, root, { name: 'there', processes: { web: ['live', 'stopped'] } })
  const both = await anApp(t, root, { name: 'both', processes: { web: ['live', 'live'] } })
  const idle = await anApp(t, root, { name: 'idle', processes: { web: ['stopped'] } })
  const db = aService(t, root, { name: 'db' })
  const off = aService(t, root, { name: 'off', status: 'stopped' })
  for (const [id, state] of [
    [db, 'live'],
    [off, 'stopped'],
  ] as const)
    adoptRelease(t.db, {
      ...{ workload: { id, kind: 'service' }, id: Bun.randomUUIDv7() },
      containers: [{ component: 'data', containerId: Bun.randomUUIDv7(), state }],
    })
  aDomain(t, { environmentId: there.id }, 'there.example.com')
  const move = (id: string) =>
    t.db.update(instances).set({ serverId: second }).where(eq(instances.id, id)).run()
  const all = t.db.select().from(instances).all()
  for (const { id, workloadId } of all) if (workloadId !== both.id) move(id)
  move(all.find(({ workloadId }) => workloadId === both.id)!.id)
  t.engines.setAway({ serverId: second }, true)
  return { t, root, apps: { there, both, idle }, services: { db, off } }
}

/** What a page's badge says, by its path. */
const badge = ({ text }: { text: string }) =>
  /<span class="status"[^>]*>.*?<\/svg>([^<]+)</s.exec(text)![1]!.trim()

test('what should run on a server that is away is unknown, on every page and in the metrics', async () => {
  const { t, root, apps, services } = await aFleet()
  const { nodes } = (await root.get('/map')).json
  const states = Object.fromEntries(
    nodes.map((node: Node) => [node.project?.name ?? node.name, node.state]),
  )
  expect(states).toMatchObject({
    both: 'unhealthy',
    idle: 'stopped',
    db: 'unknown',
    off: 'stopped',
  })
  const own = nodes.filter(({ project }: Node) => project?.name === 'there')
  expect(own.map(({ state }: Node) => state)).toEqual(['unknown', 'unknown'])

  const head = async ({ projectId, id }: { projectId: string; id: string }) =>
    badge(await root.page(`/projects/${projectId}/envs/${id}`))
  expect(await head(apps.there)).toBe('Unknown')
  expect(await head(apps.both)).toBe('Unhealthy')
  expect(await head(apps.idle)).toBe('Stopped')
  expect(badge(await root.page(`/services/${services.db}`))).toBe('Unknown')
  expect(badge(await root.page(`/services/${services.off}`))).toBe('Stopped')

  const { of } = await scraped(t, root)
  const state = (name: string, state: string) => of('davit_state', name, `state="${state}"`)
  expect(state('project="there"', 'unknown')).toBe(1)
  expect(state('service="db"', 'unknown')).toBe(1)
  const containers = (state: string) => of('davit_containers', 'there', `state="${state}"`)
  expect([containers('unknown'), containers('stopped'), containers('running')]).toEqual([
    1,
    1,
    null,
  ])

  t.engines.setAway({ serverId: second }, false)
  expect(await head(apps.there)).toBe('Running')
  expect(badge(await root.page(`/services/${services.db}`))).toBe('Running')
})

test('a container that is gone from Davit’s own server is known to be, while another is away', async () => {
  const t = simulatedApp()
  const root = t.logInAsAdmin()
  storeServers(t.db, [{}, {}])
  const nothing = { containers: [], networks: [], volumes: [], images: [] }
  const other = new FakeEngine(realClock, { ...nothing, made: 1000 })
  other.serverId = second
  t.engines.add(fakeDocker(other, atOnce))
  const { id } = await anApp(t, root, { name: 'gone', processes: { web: ['live'] } })
  await observe(t.deps, id, { orphans: false, signal: new AbortController().signal })
  expect(listInstances(t.db, id)).toMatchObject([{ state: 'stopped' }])
})
