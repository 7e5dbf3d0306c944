import { expect, test } from 'bun:test'
import { simulatedApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { expectRefusals } from '../support/refusals.ts'
import { httpReceiver, status } from './receivers.ts'
import type { Received } from './receivers.ts'
import { drained, later } from './scene.ts'

const s3 = {
  ...{ kind: 's3', endpoint: 'http://127.0.0.1:9000', bucket: 'logs' },
  ...{ accessKey: 'AKIA', secretKey: 'very-secret-key' },
}

test('a token that no header can have is refused, but a password with it is sent', async () => {
  const { ada, path } = await drained({ kind: 'loki', url: 'http://127.0.0.1' }, simulatedApp())
  const copied = { kind: 'otlp', url: 'http://127.0.0.1', name: 'new', password: 'a\u200b' }
  const refused = await ada.post(path, copied)
  expect([refused.status, refused.json.errors[0].field]).toEqual([422, 'password'])
  const { json: made } = await ada.post(path, { ...copied, username: 'ada' })
  const changed = await ada.put(`${path}/${made.id}`, { username: null })
  expect([changed.status, changed.json.errors[0].field]).toEqual([422, 'password'])
  expect((await ada.put(`${path}/${made.id}`, { username: null, password: 'a' })).status).toBe(200)
})

test('what is no receiver is refused by its field, also a private address', async () => {
  const t = simulatedApp()
  const { ada, path } = await drained({ kind: 'loki', url: 'http://127.0.0.1:3100' }, t)
  const wrongUrls = ['', 'loki', 'ftp://loki.example', 'http://10.0.0.1', 'http://169.254.169.254/']
  const wrongHeaders = [
    'X-Key',
    'Host: evil',
    'Authorization: x',
    'Content-Length: 1',
    'a b: c',
    'X: \u0007',
  ]
  await expectRefusals(t, ada, {
    ...{ method: 'POST', path },
    valid: { kind: 'loki', name: 'new', url: 'http://127.0.0.1:3100' },
    wrong: {
      name: ['', 'x'.repeat(61)],
      url: [...wrongUrls, 'http://ada:x@127.0.0.1/', 'http://127.0.0.1/?token=x'],
      headers: wrongHeaders,
      requests: ['perhaps'],
    },
    notShown: ['requests', 'headers'],
  })
  await expectRefusals(t, ada, {
    ...{ method: 'POST', path },
    valid: { kind: 'syslog', name: 'new', host: '127.0.0.1', port: 514 },
    wrong: {
      host: ['', '10.0.0.1', 'a b', 'localhost'],
      port: [0, 65_536, 'x', 1.5],
      tls: ['maybe'],
    },
    notShown: ['tls'],
  })
  await expectRefusals(t, ada, {
    ...{ method: 'POST', path },
    valid: { ...s3, name: 'new' },
    wrong: {
      endpoint: ['', 'http://192.168.0.1'],
      bucket: [''],
      prefix: ['a b', 'ü'],
      secretKey: ['', null],
    },
  })
  for (const body of [{ kind: 'udp' }, { kind: 'loki', url: 'http://127.0.0.1', bucket: 'x' }, {}])
    expect((await ada.post(path, { name: 'new', ...body })).status).toBe(422)
  expect((await ada.get(path)).json.items).toHaveLength(1)
})

test('a syslog drain says that it uses TLS unless that is switched off', async () => {
  const { ada, path, one, made } = await drained({ kind: 'syslog', host: '127.0.0.1', port: 6514 })
  expect(made.tls).toBe(true)
  for (const [tls, shown] of [
    [false, false],
    [null, true],
  ])
    expect((await ada.put(one, { tls })).json.tls).toBe(shown)
  const loki = { kind: 'loki', name: 'other', url: 'http://127.0.0.1:3100' }
  expect((await ada.post(path, loki)).json.tls).toBeNull()
})

test('a name is taken once, and an environment has five at most', async () => {
  const { ada, path } = await drained(s3)
  const made = (name: string) => ada.post(path, { ...s3, name })
  expect((await made('central')).json.errors).toMatchObject([{ field: 'name' }])
  for (const name of ['b', 'c', 'd', 'e']) expect((await made(name)).status).toBe(201)
  expect((await made('f')).status).toBe(409)
})

test('a change keeps what is secret, unless it would be sent elsewhere', async () => {
  const [first, second] = [httpReceiver(), httpReceiver()]
  const secrets = { password: 'hunter22', headers: 'X-Key: abcdef' }
  const { t, ada, one, write, send } = await drained({ kind: 'loki', url: first.url, ...secrets })
  expect((await ada.put(one, { name: 'renamed' })).json.name).toBe('renamed')
  write(1)
  await send()
  expect(first.accepted[0]!.headers.get('Authorization')).toBe('Bearer hunter22')
  expect(first.accepted[0]!.headers.get('X-Key')).toBe('abcdef')
  for (const body of [{ url: second.url }, { url: second.url, password: 'again-22' }]) {
    const { status, json } = await ada.put(one, body)
    expect({ status, body: json.errors }).toMatchObject({ status: 422 })
  }
  const moved = { url: second.url, password: 'again-22', headers: null }
  expect((await ada.put(one, moved)).status).toBe(200)
  write(1)
  await send({ later })
  expect(second.accepted[0]!.headers.get('Authorization')).toBe('Bearer again-22')
  expect(second.accepted[0]!.headers.has('X-Key')).toBe(false)
  const { json } = await ada.get('/settings/audit')
  expect(JSON.stringify(json)).not.toMatch(/hunter22|abcdef|again-22/)
  const [row] = t.db.$client.query('SELECT password, headers FROM drains').values()
  expect(row).toEqual([expect.not.stringContaining('again'), null])
})

test('a secret that a receiver repeats is in no message', async () => {
  const loki = httpReceiver()
  const secrets = { password: 'hunter22', headers: 'X-Key: abcdef' }
  const { ada, one, write, send, shown } = await drained({
    kind: 'loki',
    url: loki.url,
    ...secrets,
  })
  loki.always(status(401, 'unknown: Bearer hunter22, key abcdef'))
  write(1)
  await send()
  const { problem } = await shown()
  expect(problem.message).toContain('unknown: Bearer •••')
  expect(problem.message).not.toMatch(/hunter22|abcdef/)
  expect((await ada.post(`${one}/test`)).text).not.toMatch(/hunter22|abcdef/)
})

test('each secret of a login is masked, however it was entered and is sent', async () => {
  const otlp = httpReceiver()
  const { ada, one, write, send, texts } = await drained({
    ...{ kind: 'otlp', url: otlp.url, username: 'ada', password: 'hunter22' },
    headers: 'X-Key:abcdef\nX-Longer: hunter22-and-more',
  })
  const repeat = ({ headers }: Received) =>
    ['Authorization', 'X-Key', 'X-Longer'].map((name) => headers.get(name)).join(' ')
  otlp.always((received) => Response.json({ message: repeat(received) }, { status: 401 }))
  const { text } = await ada.post(`${one}/test`)
  expect(text).toContain('Basic ••• ••• •••.')
  otlp.always(({ body, ...received }) =>
    Response.json({
      partialSuccess: { rejectedLogRecords: 1, errorMessage: repeat({ body, ...received }) },
    }),
  )
  write(2)
  await send()
  expect((await texts()).at(-1)).toContain('left out 1 line: Basic ••• ••• •••.')
})

test('a change and a removal are recorded, and what waits is sent at once after a change', async () => {
  const loki = httpReceiver()
  const { t, ada, one, write, send, shown } = await drained({ kind: 'loki', url: loki.url })
  loki.next(status(500))
  write(1)
  await send()
  await ada.put(one, { requests: false })
  await send()
  expect(await shown()).toMatchObject({ sent: 1, problem: null, requests: false })
  await ada.delete(one)
  const actions = t.db.$client.query(
    "SELECT action FROM audit_events WHERE action LIKE 'drain.%' ORDER BY id",
  )
  expect(actions.values().flat()).toEqual(['drain.created', 'drain.changed', 'drain.deleted'])
})

test('a name that leads to a private address at the time of sending gets nothing', async () => {
  const loki = httpReceiver()
  for (const body of [
    { kind: 'loki', url: `http://logs.example.com:${loki.port}` },
    { kind: 'otlp', url: `http://logs.example.com:${loki.port}` },
    { ...s3, endpoint: `http://logs.example.com:${loki.port}` },
    { kind: 'syslog', host: 'logs.example.com', port: loki.port, tls: false },
  ]) {
    const lookup = async () => ['127.0.0.2'] // only 127.0.0.1 is allowed
    const { write, send, shown, ada, one } = await drained(body, simulatedApp({}, { lookup }))
    write(20_001)
    await send()
    expect(await shown()).toMatchObject({ sent: 0, dropped: 0, waiting: 20_001 })
    expect((await shown()).problem.message).toContain('private address')
    expect((await ada.post(`${one}/test`)).status).toBe(503)
  }
  expect([...loki.accepted, ...loki.refused]).toEqual([])
})

test('without drains nothing wakes Davit, with one it looks every five seconds', async () => {
  const clock = new TestClock(new Date().toISOString())
  const loki = httpReceiver()
  const t = simulatedApp({}, { clock })
  const over = new AbortController()
  const running = t.drains.run({ signal: over.signal })
  expect(clock.timers).toBe(0)
  const { write, shown } = await drained({ kind: 'loki', url: loki.url }, t)
  expect(clock.timers).toBe(1)
  for (let times = 1; times <= 2; times++) {
    write(1)
    await clock.pass(5000)
    await t.drains.idle()
    expect(await shown()).toMatchObject({ sent: times, waiting: 0 })
  }
  expect(clock.wakes).toBe(2)
  over.abort()
  await running
  expect(clock.timers).toBe(0)
})
