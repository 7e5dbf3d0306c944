import { describe, expect, test } from 'bun:test'
import { readdirSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import { accessCursor } from '../../src/db/log-schema.ts'
import { domains } from '../../src/db/schema.ts'
import { unpack } from '../../src/logs/block.ts'
import { getNewestBlock } from '../../src/logs/store.ts'
import { dropOld } from '../../src/traffic/collect.ts'
import { aLine, counted } from './access.ts'

type Output = { items: { text: string }[] }

const texts = ({ items }: Output) => items.map(({ text }) => text)

describe('requests', () => {
  test('are counted by status, bytes and host', async () => {
    const { has, log, collect, ada, path } = await counted()
    has('app.test')
    has('app.test', { path: '/api' })
    log.write(
      aLine('app.test'),
      aLine('app.test', { status: 404, size: 7 }),
      aLine('app.test/api', { status: 201, size: 3, bytes_read: 5000, host: 'app.test' }),
      aLine('app.test', { status: 503 }),
      aLine('App.test.:80', { status: 308, davit: '' }), // answered before its site was looked for
      aLine('app.test', { status: 101, duration: 3600 }),
      aLine('app.test', { status: 0, size: 0, duration: 60 }),
      aLine('stranger.test', { size: 99_999 }),
    )
    await collect()
    const { json } = await ada.get(path)
    expect(json.total).toMatchObject({
      requests: 7,
      statuses: { '1xx': 1, '2xx': 2, '3xx': 1, '4xx': 1, '5xx': 1 },
      received: 5000,
      sent: 100 + 7 + 3 + 100 + 100 + 100,
    })
    expect(json.hosts).toEqual([
      { host: 'app.test', requests: 6 },
      { host: 'app.test/api', requests: 1 },
    ])
    expect(json.total.p99).toBeLessThan(11) // neither the WebSocket nor what broke off
    const one = await ada.get(`${path}?host=app.test%2Fapi&range=week`)
    expect(one.json).toMatchObject({ range: 'week', host: 'app.test/api', total: { requests: 1 } })
  })

  test('are found in the log beside what the app writes, and can be chosen there', async () => {
    const { has, log, collect, ada, output } = await counted()
    has('app.test')
    log.write(
      aLine('app.test', { uri: '/orders?', method: 'POST', bytes_read: 2048 }),
      aLine('app.test', { status: 502 }),
    )
    await collect()
    const { json } = await ada.get(`${output}?process=access`)
    expect(texts(json)).toEqual([
      'POST app.test/orders? → 200, 10.0 ms, 100 B, 2.0 KiB received, 203.0.113.7',
      'GET app.test/ → 502, 10.0 ms, 100 B, 203.0.113.7',
    ])
    expect(json.processes).toEqual([{ process: 'access', replicas: 1 }])
    expect(texts((await ada.get(`${output}?stream=stderr`)).json)).toHaveLength(1)
    expect(texts((await ada.get(`${output}?process=web`)).json)).toEqual([])
  })

  test('count once, whenever the reader fails or begins again', async () => {
    const { has, log, collector, collect, ada, path, output, t } = await counted()
    has('app.test')
    log.write(aLine('app.test'), aLine('app.test'))
    const { writeAll } = t.logs
    t.logs.writeAll = (written, also) =>
      writeAll.call(t.logs, written, () => {
        also?.()
        throw new Error('the disk is full')
      })
    await expect(collector().collect()).rejects.toThrow('the disk is full')
    t.logs.writeAll = writeAll
    await collect()
    await collect()
    log.write(aLine('app.test'))
    await collect()
    expect((await ada.get(path)).json.total.requests).toBe(3)
    expect(texts((await ada.get(output)).json)).toHaveLength(3)
  })

  test('of which few have a line are counted alike when they are read again', async () => {
    const { has, log, collector, ada, path, t } = await counted()
    has('app.test')
    const line = aLine('app.test', { level: 'info' })
    log.write(...Array.from({ length: 600 }, () => line))
    const reader = collector()
    const { writeAll } = t.logs
    t.logs.writeAll = () => {
      throw new Error('the disk is full')
    }
    await expect(reader.collect()).rejects.toThrow('the disk is full')
    t.logs.writeAll = writeAll
    while (await reader.collect());
    expect((await ada.get(path)).json.total.requests).toBe(600)
  })

  test('are read to their end through files that are full, which are removed then', async () => {
    const { has, log, collect, collector, ada, path } = await counted()
    has('app.test')
    const reader = collector()
    const write = (count: number) => {
      for (let at = 0; at < count; at++) log.write(aLine('app.test'))
    }
    write(10)
    await reader.collect()
    write(10)
    log.roll()
    write(10)
    log.roll()
    while (await reader.collect()); // there is no file that is written to
    write(1)
    const line = aLine('app.test')
    log.begin(line.slice(0, 30))
    while (await reader.collect());
    expect(readdirSync(dirname(log.path))).toEqual(['access.log'])
    log.write(line.slice(30))
    await collect()
    expect((await ada.get(path)).json.total.requests).toBe(32)
  })

  test('of a log that was cut or begins again are counted from its start', async () => {
    const { has, log, collect, ada, path } = await counted()
    has('app.test')
    log.write(aLine('app.test'), aLine('app.test'))
    await collect()
    truncateSync(log.path, 0)
    log.write(aLine('app.test', { uri: '/other' }))
    await collect()
    expect((await ada.get(path)).json.total.requests).toBe(3)
    truncateSync(log.path, 0)
    log.write(aLine('app.test', { uri: '/third' }), aLine('app.test')) // beyond what was read
    await collect()
    expect((await ada.get(path)).json.total.requests).toBe(5)
  })

  test('are looked for only where the log has changed, and count once across its files', async () => {
    const { has, log, collector, ada, path, t } = await counted()
    has('app.test')
    const reader = collector()
    const requests = async () => {
      while (await reader.collect());
      return (await ada.get(path)).json.total.requests
    }
    expect(await requests()).toBe(0) // there is no log yet
    log.write(aLine('app.test'))
    expect(await requests()).toBe(1)
    t.logDb.delete(accessCursor).run() // read from its start, that line would count again
    expect(await requests()).toBe(1)
    log.roll()
    log.write(aLine('app.test'))
    expect(await requests()).toBe(1 + 2) // as it does now
    truncateSync(log.path)
    log.write(aLine('app.test'), aLine('app.test'))
    expect(await requests()).toBe(5)
    log.begin(aLine('app.test'))
    expect(await requests()).toBe(5)
    log.begin('\n')
    expect(await requests()).toBe(6)
  })
})

describe('a line', () => {
  test('that is no line changes nothing of the others', async () => {
    const { has, log, collect, ada, path } = await counted()
    has('app.test')
    log.write(
      '',
      'null',
      '{"ts":1e999}',
      '{"request":{}}',
      aLine('app.test').slice(0, 40) + aLine('app.test'),
      Buffer.from([0xff, 0xfe, 0, 0x7b]),
      '['.repeat(100_000),
      aLine('app.test', { status: Number.NaN }),
      'x'.repeat(9 * 2 ** 20),
      aLine('app.test', { uri: `/${'a'.repeat(2 ** 20)}` }),
      aLine('app.test'),
    )
    await collect()
    expect((await ada.get(path)).json.total.requests).toBe(2)
  })

  test('of a hostile visitor is short, and moves neither cursor nor text', async () => {
    const { has, log, collect, ada, output } = await counted()
    has('app.test')
    const uri = '/\u001b[2J\u202E\n\r\u0000é\u2066'
    const [head, tail] = aLine('app.test', { uri: '/%%' }).split('%%') as [string, string]
    log.write(
      aLine('app.test', { uri, client_ip: '\u001b[31m', method: 'GET\u009b' }),
      Buffer.concat([Buffer.from(head), Buffer.from([0xff, 0xc3]), Buffer.from(tail)]),
      aLine('app.test', { uri: `/${'a'.repeat(5000)}` }),
    )
    await collect()
    const [first, invalid, long] = texts((await ada.get(output)).json)
    expect(first).toBe(
      'GET\\x9b app.test/\\x1b[2J\\u{202e}\\x0a\\x0d\\x00é\\u{2066} → 200, 10.0 ms, 100 B, \\x1b[31m',
    )
    expect(invalid).toStartWith('GET app.test/\uFFFD')
    expect(long!.length).toBeLessThan(2100)
  })

  test('shows no secret of its environment', async () => {
    const {
      t,
      environment: { id: sourceId },
      has,
      log,
      collect,
      ada,
      output,
      environment,
    } = await counted()
    has('app.test')
    const body = { key: 'TOKEN', value: 'correct-horse-battery', secret: true }
    expect((await ada.post(`/envs/${environment.id}/variables`, body)).status).toBe(201)
    log.write(aLine('app.test', { uri: '/reset/correct-horse-battery' }))
    await collect()
    const [line] = texts((await ada.get(output)).json)
    expect(line).toContain('app.test/reset/')
    expect(line).not.toContain('horse')
    const block = getNewestBlock(t.logDb, { sourceId, logId: '' })!
    expect(unpack(block.data)).not.toContain('horse')
  })
})

test('requests that come too fast are counted, and the log says that it lacks them', async () => {
  const { has, log, collect, ada, path, output } = await counted()
  has('app.test')
  const ts = Date.now() / 1000 - 60 // the later one is in no minute that has yet to come
  // as Caddy writes 3,200 of a second: one in 11 beyond the first thousand
  const sampled = () => aLine('app.test', { ts })
  log.write(Array.from({ length: 1200 }, sampled).join('\n'))
  log.write(aLine('app.test', { ts, status: 500, uri: '/failed' }))
  log.write(aLine('app.test', { ts: ts + 10, uri: '/later' }))
  await collect()
  expect((await ada.get(path)).json.total.requests).toBe(3202)
  const lines = texts((await ada.get(`${output}?limit=10000`)).json)
  expect(lines).toHaveLength(1003)
  expect(lines[1000]).toContain('/failed')
  expect(lines[1001]).toContain('2,200 requests')
  expect(lines[1002]).toContain('/later')
})

test('an environment that is deleted takes its traffic along', async () => {
  const { t, has, log, collect, ada, environment } = await counted()
  has('app.test')
  log.write(aLine('app.test'))
  await collect()
  const rows = () => t.logDb.$client.query('SELECT * FROM traffic').all().length
  expect(rows()).toBe(3)
  await ada.post(environment.path.replace(/\/[^/]+$/, ''), { name: 'other' }) // a project keeps one
  expect((await ada.delete(environment.path)).status).toBeLessThan(300)
  expect(rows()).toBe(0)
  expect(t.logDb.$client.query('SELECT * FROM traffic_series').all()).toEqual([])
})

test('minutes are kept for a day, hours for eight, and no more rows than hosts have', async () => {
  const { t, environment, log, collect } = await counted()
  const now = Math.floor(Date.now() / 1000)
  const hosts = Array.from({ length: 500 }, (_, at) => `h${at}.test`)
  const old = '018f0000-0000-7000-8000-'
  const rowOf = (host: string, at: number) => ({
    ...{ host, environmentId: environment.id, position: at },
    id: `${old}${String(at).padStart(12, '0')}`,
  })
  t.db.insert(domains).values(hosts.map(rowOf)).run()
  const rows = () =>
    t.logDb.$client.query('SELECT span, count(*) AS rows FROM traffic GROUP BY span').all() as {
      span: number
      rows: number
    }[]
  const ago = (hours: number) => ({ ts: now - hours * 3600 })
  log.write(
    hosts.flatMap((host) => [0, 2, 30, 250].map((hours) => aLine(host, ago(hours)))).join('\n'),
  )
  await collect()
  expect(rows().map(({ rows }) => rows)).toEqual([1, 2000, 2000])
  for (let times = 0; times < 400; times++) dropOld(t, now * 1000)
  expect(rows()).toEqual([
    { span: 0, rows: 1 },
    { span: 60, rows: 1000 },
    { span: 3600, rows: 1500 },
  ])
})
