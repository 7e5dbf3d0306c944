import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apps } from '../../src/deployments/observe.ts'
import { Edge } from '../../src/edge/edge.ts'
import { shareKey } from '../../src/edge/plan.ts'
import { shareAddress } from '../../src/edge/shares.ts'
import { Failure } from '../../src/platform/errors.ts'
import { neverAborted, unlessAborted } from '../../src/platform/pause.ts'
import { observeDifferent } from '../../src/runtime/observe.ts'
import { listDifferent } from '../../src/runtime/reconcile.ts'
import { Routing } from '../../src/runtime/routing.ts'
import { listInstances } from '../../src/runtime/store.ts'
import { until } from '../support/until.ts'
import { aCaddy } from '../edge/told-caddy.ts'
import { withAda } from '../support/app.ts'
import { anApp, aProject, finished, rollBack } from './apps.ts'
import { appBehindEdge } from './simulated-edge.ts'
import { asked, shared } from './sharing.ts'

type Shared = Awaited<ReturnType<typeof shared>>

/** Has the version before listen: no one else reaches an address of a simulated container. */
function reachBefore({ t, first }: Shared) {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  onTestFinished(() => server.stop(true))
  const [instance] = listInstances(t.db, first.environmentId).filter(
    ({ containerId }) => containerId === first.containerId,
  )
  t.db.$client.run('UPDATE endpoints SET address = ? WHERE instance_id = ?', [
    '127.0.0.1',
    instance!.id,
  ])
  t.db.$client.run('UPDATE instances SET port = ? WHERE id = ?', [server.port, instance!.id])
  return [`127.0.0.1:${server.port}`]
}

const statesIn = ({ t, first }: Shared) =>
  Object.fromEntries(
    listInstances(t.db, first.environmentId).map(({ containerId, state }) => [containerId, state]),
  )

/** What each Davit leads requests with that starts over the same folder and database, in the order of a start. */
function starts({ t, first, stored }: Shared) {
  const folder = mkdtempSync(join(tmpdir(), 'davit-edge-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { slot } = stored().watch!.share!
  const begin = (caddy = aCaddy(), isEnding = false) => {
    const edge: Edge = new Edge({
      ...{ folder, caddy, isOptional: false, isEnding },
      plan() {
        routing.routeNew()
        return { hosts: [], listeners: [], authority: null }
      },
      fill: () => routing.routeAll(),
    })
    const routing: Routing = new Routing({ ...t.deps, edge })
    const over = new AbortController()
    const running = edge.run({ signal: over.signal })
    const end = async () => {
      over.abort()
      await running
    }
    onTestFinished(end)
    const route = () => ({
      app: edge.upstreamsOf(first.environmentId),
      new: edge.upstreamsOf(shareKey(slot, 'new')),
    })
    return { edge, route, end }
  }
  const isShared = (addresses: Shared['addresses']) => ({
    app: [shareAddress('/edge', slot)],
    new: addresses.new,
  })
  return { begin, isShared }
}

test('each Davit that starts goes on with a share, also where Caddy can’t start at first', async () => {
  const s = await shared()
  const { begin, isShared } = starts(s)
  for (let times = 0; times < 3; times++) {
    const { edge, route, end } = begin()
    await edge.sync()
    expect(route()).toEqual(isShared(s.addresses))
    await end()
  }
  const caddy = aCaddy()
  caddy.refusal = new Failure('edge_direct', 'No.', 'Do.')
  const { edge, route } = begin(caddy)
  await edge.sync()
  expect(edge.mode).toBe('direct')
  caddy.refusal = null
  await edge.sync()
  expect([edge.mode, route()]).toEqual(['caddy', isShared(s.addresses)])
})

test.each(['external', 'direct'] as const)(
  'a Davit that starts with DAVIT_EDGE=%s sends all requests to the version before',
  async (setting) => {
    const s = await shared()
    const { begin, isShared } = starts(s)
    const own = begin()
    await own.edge.sync()
    expect(own.route()).toEqual(isShared(s.addresses))
    await own.end()
    const isDirect = setting === 'direct'
    const { edge, route } = begin(aCaddy(isDirect ? 'caddy' : 'external'), isDirect)
    await edge.sync()
    expect(route()).toEqual({ app: s.addresses.before, new: s.addresses.before })
  },
)

test.each(['is stopped', 'crashes'])(
  'while the version before %s, all requests reach the one that runs, until it is back',
  async (how) => {
    const s = await shared()
    const { t, first, second, addresses, route } = s
    const before = reachBefore(s)
    const isAlone = () =>
      Bun.deepEquals(route(), { percent: 100, ...addresses, before: addresses.new })
    const isShared = () => Bun.deepEquals(route(), { percent: 10, ...addresses, before })
    if (how === 'is stopped') await t.docker.stopContainer(first.containerId)
    else t.engine.kill(first.containerId)
    await until(isAlone)
    const states = { [first.containerId]: 'standby', [second.containerId]: 'live' }
    expect(statesIn(s)).toEqual(states)
    if (how === 'is stopped') await t.docker.startContainer(first.containerId)
    await until(isShared)
    expect(statesIn(s)).toEqual(states)
    expect(s.statuses()).toEqual(['superseded', 'running'])
  },
)

test('a Davit that starts keeps requests from the version before that ended, until it is back', async () => {
  const s = await shared()
  const { t, first, addresses, route } = s
  const before = reachBefore(s)
  const alone = { percent: 100, ...addresses, before: addresses.new }
  await t.docker.stopContainer(first.containerId)
  await until(() => Bun.deepEquals(route(), alone))
  const next = { ...t.deps, routing: new Routing(t.deps) } // the next process remembers nothing
  const options = { signal: neverAborted() }
  next.routing.route({ id: first.environmentId, kind: 'app' })
  expect(route()).toEqual({ percent: 10, ...addresses, before })
  await observeDifferent(next, apps, options)
  expect(route()).toEqual(alone)
  expect(await listDifferent(next, 'app', options)).toEqual(new Set())
})

test('taken back while the version before is stopped, that one gets no requests, and counts as stopped', async () => {
  const s = await shared()
  const { t, first, addresses, route, ask, statuses } = s
  await t.docker.stopContainer(first.containerId)
  await until(() => Bun.deepEquals(route(), { percent: 100, ...addresses, before: addresses.new }))
  const routed: unknown[] = []
  const { route: lead } = t.edge
  t.edge.route = (key, to) => void (routed.push(to), lead(key, to))
  expect((await ask('cancel')).json.status).toBe('cancelled')
  await until(() => statuses()[0] === 'stopped')
  expect(route()).toBe('stopped')
  expect(routed).not.toContainEqual(addresses.before)
})

test('taken back before requests reach the version before again, that one gets them once it listens', async () => {
  const s = await shared()
  const { t, project, first, route, ask } = s
  const before = reachBefore(s)
  await project.configure({ drainSeconds: 3600 })
  t.edge.drained = (_, { signal }) => unlessAborted(new Promise<never>(() => {}), signal)
  const ofFirst = listInstances(t.db, first.environmentId).filter(
    ({ containerId }) => containerId === first.containerId,
  )
  t.routing.exclude({ id: first.environmentId, kind: 'app' }, ofFirst) // as after its end
  expect((await ask('cancel')).json.status).toBe('cancelled')
  await until(() => Bun.deepEquals(route(), before))
  expect(statesIn(s)[first.containerId]).toBe('live')
})

test('outside a share it stays as it is, and a later share of its own isn’t kept from it', async () => {
  const s = await shared()
  const { t, ada, project, first, addresses, route, ask } = s
  await t.docker.stopContainer(first.containerId)
  await until(() => Bun.deepEquals(route(), { percent: 100, ...addresses, before: addresses.new }))
  await ask('promote')
  await ask('keep')
  await t.instanceTasks.idle()
  expect([route(), statesIn(s)[first.containerId]]).toEqual([addresses.new, 'standby'])
  await finished(ada, (await rollBack(ada, first)).json)
  expect(route()).toEqual(addresses.before)
  await project.deploy(asked)
  expect(route()).toMatchObject({ percent: 10, before: addresses.before })
})

test('a replica of the version before that was stopped before the share gets no requests in it', async () => {
  const { t, ada } = withAda(appBehindEdge())
  const processes = [{ name: 'web', replicas: 2 }]
  const project = await aProject(t, ada, anApp('first'), { drainSeconds: 0, processes })
  await project.deploy()
  await t.jobs.idle()
  const [stopped, other] = listInstances(t.db, project.environmentId)
  await t.docker.stopContainer(stopped!.containerId!)
  await until(() => listInstances(t.db, project.environmentId)[0]!.state === 'stopped')
  const led: string[][] = []
  t.edge.routeShare = (_key, _share, { before }) => void led.push(before)
  await project.deploy(asked)
  const { addresses } = (await t.docker.inspectContainer(other!.containerId!))!
  const own = Object.values(addresses).map((address) => `${address}:8080`)
  expect(led.length).toBeGreaterThan(0)
  for (const before of led) expect(before).toEqual(own)
})
