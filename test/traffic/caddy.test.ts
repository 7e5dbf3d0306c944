import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { planOf } from '../../src/addresses/plan.ts'
import { Forwarders } from '../../src/edge/forwarders.ts'
import { folderInside } from '../../src/edge/container.ts'
import { routeShare } from '../../src/edge/shares.ts'
import { figuresSince, WatchedTraffic } from '../../src/traffic/watched.ts'
import { TrafficCollector } from '../../src/traffic/collect.ts'
import { adoptRelease } from '../../src/runtime/store.ts'
import { aHost, anEdge } from '../edge/caddy.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'
import { environments, releases } from '../../src/db/schema.ts'
import { counted } from './access.ts'

const edge = await anEdge()
edge.slots('app', edge.app(answer))

/** What is asked for: `/<status>/<bytes>`. */
async function answer(request: Request) {
  await request.arrayBuffer()
  const [, status, size] = new URL(request.url).pathname.split('/').map(Number)
  if (!status) return new Response('page')
  return new Response('x'.repeat(size!), { status })
}

const forwarders = new Forwarders()
const folder = join(edge.folder, 'log')
const access = () =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('')

test('what the log says is what was sent, by status, bytes, host, path and port, and no secret of it', async () => {
  const { t, ada, has, path, output, environment } = await counted()
  has('app.test')
  has('app.test', { path: '/204' })
  const { hosts } = planOf(t)
  const sites = hosts[0]!.sites.map((site) => ({ ...site, target: { slots: 'app' } }))
  const port = freePort()
  const listeners = [{ address: '127.0.0.1', port, slots: 'app' }]
  await edge.serve([{ name: 'app.test', https: { kind: 'off' }, sites }], { listeners })
  const collector = new TrafficCollector({ ...t.deps, edge: { folder: edge.folder, forwarders } })

  const kinds = [
    { ask: '200/5000', times: 40, size: 5000 },
    { ask: '404/7', times: 12, size: 7 },
    { ask: '500/0', times: 5, size: 0 },
    { ask: '204/0', times: 3, size: 0 },
  ]
  const headers = {
    ...{ Cookie: 'session=hidden-cookie', Authorization: 'Bearer hidden-bearer' },
    'X-Api-Key': 'hidden-key',
    'Accept-Encoding': 'identity',
  }
  const post = { method: 'POST', body: 'y'.repeat(300), headers }
  const query = '?token=hidden-query&x=hidden-value'
  await Promise.all(
    kinds.flatMap(({ ask, times }) =>
      Array.from({ length: times }, async () => {
        const response = await edge.get(`http://APP.test/${ask}${query}`, post)
        await response.arrayBuffer() // what isn't read needn't be sent
      }),
    ),
  )
  await edge.get('http://stranger.test/200/1')
  await edge.get('http://stranger.test/hooks/registry/hidden-address?a=b')
  const own = new URLSearchParams({ host: 'app.test' })
  await until(async () => {
    while (await collector.collect());
    return (await ada.get(path)).json.total.requests === 60
  })
  const { json } = await ada.get(path)
  expect(json.total).toMatchObject({
    statuses: { '1xx': 0, '2xx': 43, '3xx': 0, '4xx': 12, '5xx': 5 },
    received: 60 * 300,
    sent: 40 * 5000 + 12 * 7,
  })
  expect(json.hosts).toEqual([
    { host: 'app.test', requests: 57 },
    { host: 'app.test/204', requests: 3 },
  ])
  expect((await ada.get(`${path}?${own}`)).json.total.requests).toBe(57)
  const { items } = (await ada.get(`${output}?process=access&search=404/7`)).json
  expect(items).toHaveLength(12)
  expect(items[0].text).toMatch(
    /^POST app\.test\/404\/7\? → 404, [\d.]+ ms, 7 B, 300 B received, 127\.0\.0\.1$/,
  )
  expect(access()).not.toContain('hidden')

  const workload = { id: environment.id, kind: 'app' as const }
  adoptRelease(t.db, { workload, id: Bun.randomUUIDv7(), containers: [] })
  t.db.update(releases).set({ edge: true }).run()
  t.db.update(environments).set({ hostPort: port }).run()
  for (const Host of [`${port}`, `:${port}.`])
    // no request of the port
    await (await edge.get('http://app.test/', { headers: { Host } })).text()
  await fetch(`http://127.0.0.1:${port}/200/9`)
  await until(async () => {
    while (await collector.collect());
    return (await ada.get(path)).json.total.requests === 61
  })
  expect((await ada.get(path)).json.hosts).toContainEqual({ host: String(port), requests: 1 })
})

test('no request is lost where Caddy begins a new file while it is read', async () => {
  const { t, ada, has, path } = await counted()
  has('app.test')
  await edge.serve([aHost('app.test', { target: { page: 'maintenance' } })])
  const collector = new TrafficCollector({ ...t.deps, edge: { folder: edge.folder, forwarders } })
  while (await collector.collect()); // those of the test before
  const before = (await ada.get(path)).json.total.requests
  const long = `http://app.test/${'a'.repeat(60_000)}`
  const seen = new Set<string>()
  let sent = 0
  let isSending = true
  const reading = (async () => {
    while (isSending) {
      for (const name of readdirSync(folder)) seen.add(name)
      await collector.collect()
      await Bun.sleep(20)
    }
  })()
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (; seen.size < 4 && sent < 3000; sent++) await (await edge.get(long)).text()
    }),
  )
  isSending = false
  await reading
  await until(async () => {
    while (await collector.collect());
    return (await ada.get(path)).json.total.requests >= before + sent
  })
  expect((await ada.get(path)).json.total.requests).toBe(before + sent)
  expect(seen.size).toBeGreaterThanOrEqual(3) // it began two new ones at least
  expect(readdirSync(folder)).toEqual(['access.log'])
})

test('of many requests at once not each has a line, but each that failed, also of a share', async () => {
  const { t, ada, has, path, environment } = await counted()
  has('app.test')
  await edge.serve([aHost('app.test')])
  const watched = new WatchedTraffic()
  watched.begin(environment.id, 0, 3)
  const share = { slot: 3, percent: 50, isSticky: false }
  const app: [string] = [edge.app(answer)]
  routeShare(edge.folder, 'app', { share, versions: { new: app, before: app }, folderInside })
  const folder = edge.folder
  const collector = new TrafficCollector({ ...t.deps, watched, edge: { folder, forwarders } })
  while (await collector.collect()); // those of the tests before
  const before = (await ada.get(path)).json.total
  await Promise.all([
    ...Array.from({ length: 8 }, () => edge.sendAtOnce('app.test', '/200/1', 600)),
    edge.sendAtOnce('app.test', '/500/1', 400),
  ])
  const failed = async () => {
    while (await collector.collect());
    const { total } = (await ada.get(path)).json
    return total.statuses['5xx'] - before.statuses['5xx']
  }
  await until(async () => (await failed()) >= 400)
  expect(await failed()).toBe(400)
  const requests = (await ada.get(path)).json.total.requests - before.requests
  const [one, other] = (['new', 'before'] as const).map((version) =>
    figuresSince(t.logDb, environment.id, 0, version),
  )
  expect(one!.errors + other!.errors).toBe(400)
  const served = one!.requests + other!.requests
  expect(Math.abs(requests + served - 2 * 5200)).toBeLessThan(2 * 5200 * 0.03)
  expect(Math.abs(requests - served)).toBeLessThan(2000) // either kind of line by chance, and counts as 11
  const sampled = access().match(/"level":"info"/g)!.length
  expect(sampled).toBeLessThan(2 * 4800) // each of the host, and of a share
  edge.slots('app', ...app)
})

test('a proxy that isn’t trusted is known by the requests of a host, and a visitor who forges isn’t', async () => {
  const { t, has } = await counted()
  has('proxied.test')
  has('direct.test')
  const hosts = [aHost('proxied.test'), aHost('direct.test')]
  const headers = { 'X-Forwarded-For': '203.0.113.9' }
  const seen = new Forwarders()
  const collector = new TrafficCollector({
    ...t.deps,
    edge: { folder: edge.folder, forwarders: seen },
  })
  const send = async (host: string, times: number, init: RequestInit = {}) => {
    for (let i = 0; i < times; i++) await (await edge.get(`http://${host}/`, init)).text()
  }
  await edge.serve(hosts)
  await send('proxied.test', 3, { headers })
  await send('direct.test', 3, { headers })
  await send('direct.test', 3)
  await until(async () => (await collector.collect(), seen.list().length > 0))
  expect(seen.list()).toEqual([{ host: 'proxied.test', address: '127.0.0.1' }])
  await edge.serve(hosts, { trustedProxies: ['127.0.0.0/8'] })
  await send('proxied.test', 3, { headers })
  await until(async () => (await collector.collect(), seen.list().length === 0))
})
