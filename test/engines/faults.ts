import { expect, test } from 'bun:test'
import { loadavg } from 'node:os'
import { anApp, aProject } from '../deployments/apps.ts'
import { until } from '../support/until.ts'
import { befall, onThree } from './fault-host.ts'

// Runs in the network of the first server, as Davit does; see faults.long.test.ts.

const limit = 60 // seconds

const away = { labels: { zone: 'away' }, spread: 'servers' } as const
const usual = { watchSeconds: 0, drainSeconds: 0 }

/** One app that runs once and one that runs twice, on the servers that are away from Davit’s. */
async function withApps() {
  const s = await onThree()
  const site = (name: string, more: object = {}) =>
    aProject(s.t, s.ada, anApp(name), {
      ...{ name, domains: [`${name}.test`], placement: away, ...usual },
      ...more,
    })
  const one = await site('one')
  const two = await site('two', { processes: [{ name: 'web', replicas: 2 }] })
  for (const project of [one, two])
    expect(await project.deploy()).toMatchObject({ status: 'running' })
  return { ...s, one, two, [Symbol.asyncDispose]: () => s[Symbol.asyncDispose]() }
}

type Fleet = Awaited<ReturnType<typeof withApps>>

const numberOf = (name: string) => Number(name.slice('server'.length))

/** What visitors of both apps saw of a fault, for the table in the documentation. */
async function told(s: Fleet, title: string, work: () => Promise<unknown>) {
  const visits = ['one.test', 'two.test'].map((host) => s.visits(host))
  const begun = performance.now()
  console.error(`${new Date().toISOString()} begins: ${title}`)
  await work()
  const took = (performance.now() - begun) / 1000
  const [one, two] = await Promise.all(visits.map((visit) => visit.end()))
  const load = loadavg()[0]!.toFixed(1)
  console.error(`${title}: ${JSON.stringify({ one, two, took: Math.round(took), load })}`)
  return { one: one!, two: two! }
}

/** Both apps answer, once each, from these servers, and nothing else of them is anywhere. */
async function isWhole(s: Fleet, servers: number[]) {
  await until(async () => (await s.strays(...servers)).length === 0, limit)
  expect([s.liveOn(s.one.environmentId).length, s.liveOn(s.two.environmentId).length]).toEqual([
    1, 2,
  ])
  for (const name of ['one', 'two']) expect(await s.t.text(`${name}.test`)).toBe(name)
}

const moved = (s: Fleet, from: string) =>
  until(
    () =>
      [s.one, s.two].every(({ environmentId }) => {
        const on = s.liveOn(environmentId)
        return on.length > 0 && !on.includes(from)
      }),
    limit,
  )

test.each<[string, string, string, (n: number) => number[]]>([
  ['a server dies', 'crash', 'boot', (n) => [n]],
  ['an engine is killed with all that it runs', 'kill', 'start', (n) => [n]],
  ['the network between Davit’s server and another is cut', 'cut', 'mend', (n) => [1, n]],
])(
  '%s, and is there again with its old containers',
  async (title, fault, end, servers) => {
    await using s = await withApps()
    const [lost] = s.liveOn(s.one.environmentId)
    const n = numberOf(lost!)
    await told(s, title, async () => {
      await befall(fault, ...servers(n))
      await moved(s, lost!)
    })
    await isWhole(s, [1, n === 2 ? 3 : 2])
    const back = await told(s, `${title}: its end`, async () => {
      await befall(end, ...servers(n))
      await until(() => s.stateOf(n) === 'ready', limit)
      await isWhole(s, [1, 2, 3])
    })
    expect([back.one.failed, back.two.failed]).toEqual([0, 0])
  },
  400_000,
)

test('the disk of a server is full: what runs goes on, and a new version waits for room', async () => {
  await using s = await withApps()
  const [full] = s.liveOn(s.one.environmentId)
  const before = [s.one, s.two].map(({ environmentId }) => s.liveOn(environmentId))
  const seen = await told(s, 'the disk of a server is full', async () => {
    await befall('fill', numberOf(full!))
    s.two.repository.commit(anApp('two'))
    expect(await s.two.deploy()).toMatchObject({
      status: 'failed',
      error: { code: 'disk_full' },
    })
    await isWhole(s, [1, 2, 3])
    expect([s.one, s.two].map(({ environmentId }) => s.liveOn(environmentId))).toEqual(before)
    await befall('free', numberOf(full!))
    expect(await s.two.deploy()).toMatchObject({ status: 'running' })
    await isWhole(s, [1, 2, 3])
  })
  expect([seen.one.failed, seen.two.failed]).toEqual([0, 0])
}, 400_000)

test('ssh is refused, the network between two others is cut: nothing moves, and no request fails', async () => {
  await using s = await withApps()
  const before = [s.one, s.two].map(({ environmentId }) => s.liveOn(environmentId))
  const ids = () => s.t.db.$client.query('SELECT id FROM instances ORDER BY id').all()
  const all = ids()
  const ssh = await told(s, 'ssh is refused', async () => {
    await befall('refuse', 2)
    // told after twice the time that a swarm takes to call a server down
    await until(() => s.told().includes('server_away warning'), limit)
    expect(s.stateOf(2)).toBe('away')
    await befall('accept', 2)
    await until(() => s.stateOf(2) === 'ready', limit)
    expect(ids()).toEqual(all)
  })
  const cut = await told(s, 'the network between two others is cut', async () => {
    await befall('cut', 2, 3)
    s.two.repository.commit(anApp('two'))
    expect(await s.two.deploy()).toMatchObject({ status: 'running' })
    await befall('mend', 2, 3)
  })
  for (const { one, two } of [ssh, cut]) expect([one.failed, two.failed]).toEqual([0, 0])
  expect([s.one, s.two].map(({ environmentId }) => s.liveOn(environmentId))).toEqual(before)
}, 400_000)

test('a server is drained, and used again', async () => {
  await using s = await withApps()
  const root = s.t.logInAsAdmin()
  const [left] = s.liveOn(s.one.environmentId)
  const servers = (await root.get('/settings/servers')).json.items as { id: string; name: string }[]
  const path = `/settings/servers/${servers.find(({ name }) => name === left)!.id}`
  const preview = (await root.get(`${path}/drain`)).json
  expect([preview.moves.length, preview.stays]).toEqual([2, []])
  const seen = await told(s, 'a server is drained', async () => {
    expect((await root.post(`${path}/drain`)).json).toMatchObject({ state: 'draining' })
    await moved(s, left!)
    await isWhole(s, [1, 2, 3])
  })
  expect([seen.one.failed, seen.two.failed]).toEqual([0, 0])
  expect((await root.get(path)).json).toMatchObject({ instances: 0 })
  await root.post(`${path}/activate`)
}, 400_000)
