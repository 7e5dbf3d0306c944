import { expect, test } from 'bun:test'
import { traffic } from '../../src/traffic/json.ts'
import { Failure } from '../../src/platform/errors.ts'
import { readTraffic, trafficJson } from '../../src/traffic/history.ts'
import { insertDomain } from '../../src/addresses/store.ts'
import { insertService } from '../../src/services/store.ts'
import { aLine, counted } from './access.ts'

/** Has the app believe that such an edge serves. */
const served = (edge: object, by: { mode: string; trouble?: Failure }) => {
  for (const [name, value] of Object.entries(by))
    Object.defineProperty(edge, name, { get: () => value, configurable: true })
}

test('a page without requests says why there are none', async () => {
  const { t, ada, metrics, has, log, collect } = await counted()
  const text = async () => (await ada.page(metrics)).text
  expect(await text()).toContain('which the setting DAVIT_EDGE=direct turns off')
  served(t.edge, { mode: 'external' })
  expect(await text()).toContain('Your own Caddy serves the domains')
  served(t.edge, {
    mode: 'direct',
    trouble: new Failure('edge_direct', 'Port 80 is taken.', 'Free it.'),
  })
  expect(await text()).toContain('Port 80 is taken. Free it.')
  served(t.edge, { mode: 'caddy' })
  expect(await text()).toContain('No requests yet')
  has('app.test')
  log.write(aLine('app.test', { ts: Date.now() / 1000 - 2 * 3600 }))
  await collect()
  expect(await text()).toContain('No requests in this time')
  expect((await ada.page(`${metrics}?range=day`)).text).toContain('Median duration')
})

test('a page draws what was served, and offers the hosts', async () => {
  const { t, ada, path, metrics, output, has, log, collect } = await counted()
  served(t.edge, { mode: 'caddy' })
  for (const host of ['app.test', 'www.app.test']) has(host)
  log.write(aLine('app.test'), aLine('www.app.test', { status: 500 }))
  await collect()
  const { text } = await ada.page(metrics)
  for (const shown of [
    'Requests, the last hour',
    '<bdi>5xx: </bdi>',
    '99th',
    '?range=hour&amp;host=www.app.test',
  ])
    expect(text).toContain(shown)
  const { json } = await ada.get(path)
  expect(traffic().strict().parse(json)).toEqual(json)
  expect(json.isCounted).toBe(true)
  expect((await ada.page(output)).text).toContain('output?process=access')
  expect((await ada.get(`${path}?range=year`)).status).toBe(422)
  expect((await ada.get(`${path}?host=none.test`)).json.total.requests).toBe(0)
})

test('the average of a chart is over the time that was measured, as in the figures above it', async () => {
  const { t, ada, metrics, has, log, collect } = await counted()
  served(t.edge, { mode: 'caddy' })
  has('app.test')
  const now = Date.now() / 1000
  log.write(
    aLine('app.test', { ts: now - 120 }),
    ...Array.from({ length: 40 }, () => aLine('app.test')),
  )
  await collect()
  const { text } = await ada.page(metrics)
  const [, average] = /([\d.]+)\/s on average/.exec(text)!
  expect(text).toContain(`average ${average}/s`)
})

test('percentiles and counts of a week are those of its minutes together', async () => {
  const { t, environment, has, log, collect } = await counted()
  for (const host of ['a.test', 'b.test']) has(host)
  const now = Math.floor(Date.now() / 3_600_000) * 3_600_000 + 1_830_000 // in the middle of a minute
  const seconds = Array.from({ length: 900 }, (_, at) => 0.001 * 1.01 ** at)
  log.write(
    seconds
      .map((duration, at) =>
        aLine(at % 2 ? 'a.test' : 'b.test', { duration, ts: now / 1000 - at * 60, bytes_read: 1 }),
      )
      .join('\n'),
  )
  await collect()
  const read = async (range: 'hour' | 'day' | 'week') => {
    const history = await readTraffic(t.logDb, { sourceId: environment.id, range, now })
    return trafficJson(history, { isCounted: true })
  }
  const { total, samples } = await read('day')
  const week = await read('week')
  expect(week.total).toMatchObject({ ...total, perSecond: expect.any(Number) })
  expect(total).toMatchObject({ requests: 900, received: 900, sent: 90_000 })
  for (const [share, told] of [
    [0.5, total.p50],
    [0.95, total.p95],
    [0.99, total.p99],
  ] as const)
    expect(Math.abs(told! / (seconds[Math.ceil(900 * share) - 1]! * 1000) - 1)).toBeLessThan(0.045)
  expect(samples.reduce((sum, { requests }) => sum + requests, 0)).toBe(900)
  expect((await read('hour')).samples.at(-1)).toMatchObject({ requests: 1 })
})

test('a service has its own', async () => {
  const { t, ada, log, collect } = await counted()
  const file = { template: 'compose', compose: 'services: {db: {image: busybox}}' }
  const values = { ownerId: ada.user.id, name: 'db', host: 'db', version: '', values: '', ...file }
  const service = insertService(t.db, values, [])
  insertDomain(t.db, { serviceId: service.id }, { host: 'db.test' }, t)
  await Bun.sleep(2)
  log.write(aLine('db.test', { duration: 0 }))
  await collect()
  const path = `/services/${service.id}/traffic`
  expect((await ada.get(path)).json.hosts).toEqual([{ host: 'db.test', requests: 1 }])
  expect((await ada.page(path)).text).toContain('Traffic')
  expect((await t.logIn('bob@example.com').get(path)).status).toBe(404)
})
