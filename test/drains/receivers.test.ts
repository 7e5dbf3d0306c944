import { expect, test } from 'bun:test'
import { gunzipSync } from 'bun'
import { Drains } from '../../src/drains/drains.ts'
import { simulatedApp } from '../support/app.ts'
import { loopback } from '../support/tls.ts'
import { httpReceiver, isSignedWith, status, syslogReceiver } from './receivers.ts'
import { drained, later } from './scene.ts'

const trusting = (t: ReturnType<typeof simulatedApp>) => ({
  drains: new Drains({ ...t.deps, ca: loopback.cert }),
})

test('OTLP: lines are log records with their severity, below what wrote them', async () => {
  const receiver = httpReceiver()
  const { write, send } = await drained({ kind: 'otlp', url: receiver.url, password: 'a-token-1' })
  write(1, () => 'ERROR: no space left')
  write(1, () => 'hello')
  await send()
  const [{ path, body, headers }] = receiver.accepted as [any]
  expect(path).toBe('/v1/logs')
  expect(headers.get('Authorization')).toBe('Bearer a-token-1')
  expect(headers.get('Content-Type')).toContain('application/json')
  const [first] = body.resourceLogs
  expect(first.resource.attributes).toContainEqual({
    key: 'deployment.environment.name',
    value: { stringValue: 'production' },
  })
  const records = body.resourceLogs.flatMap(({ scopeLogs }: any) => scopeLogs[0].logRecords)
  expect(records).toMatchObject([
    { severityNumber: 17, severityText: 'ERROR', body: { stringValue: 'ERROR: no space left' } },
    { timeUnixNano: expect.stringMatching(/^\d{19}$/), body: { stringValue: 'hello' } },
  ])
  expect(records[1].severityNumber).toBeUndefined()
})

test('OTLP: records that the receiver rejects are counted, and the log has its reason', async () => {
  const receiver = httpReceiver()
  const { write, send, shown, texts } = await drained({ kind: 'otlp', url: receiver.url })
  const partialSuccess = { rejectedLogRecords: '2', errorMessage: 'too\nlong.' }
  receiver.next(() => Response.json({ partialSuccess }))
  write(5)
  await send()
  expect(await shown()).toMatchObject({ sent: 3, dropped: 2 })
  expect((await texts()).at(-1)).toBe('The log drain central left out 2 lines: too long.')
  for (const odd of ['-1', 'x', 1e9, null]) {
    receiver.next(() => Response.json({ partialSuccess: { rejectedLogRecords: odd } }))
    write(1)
    await send()
  }
  expect((await shown()).waiting).toBeLessThan(3)
  receiver.next(() => new Response('<html>Welcome</html>'))
  write(1)
  await send()
  expect((await shown()).problem).toBeNull()
})

test('OTLP: a test that the receiver rejects has failed, with its reason, and promises no second one', async () => {
  const receiver = httpReceiver()
  const { ada, one } = await drained({ kind: 'otlp', url: receiver.url, traces: true })
  const answer = (partialSuccess: object) => () => Response.json({ partialSuccess })
  for (const answers of [
    [answer({ rejectedLogRecords: '1', errorMessage: 'too old' })],
    [answer({}), answer({ rejectedSpans: 1, errorMessage: 'too old' })],
  ]) {
    receiver.next(...answers)
    const { status, json } = await ada.post(`${one}/test`)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(json.detail).toContain('too old')
  }
  expect((await ada.post(`${one}/test`)).status).toBe(200)
  receiver.next(status(503, 'busy'))
  const { text } = await ada.post(`${one}/test`) // which isn't sent again by itself
  expect(text).toContain('status 503')
  expect(text).not.toContain('Davit tries again')
})

test('S3: lines become a compressed object, whose name is the same at each attempt', async () => {
  const receiver = httpReceiver()
  const { t, write, send, shown, environment } = await drained({
    ...{ kind: 's3', endpoint: receiver.url, bucket: 'logs', prefix: 'davit/' },
    ...{ accessKey: 'AKIA', secretKey: 'very-secret-key', region: 'eu-central-1' },
  })
  await send()
  write(2)
  await send()
  expect(receiver.accepted).toEqual([]) // it collects them for a minute
  write(20_000)
  receiver.next(status(503))
  await send()
  await send({ later })
  const [object, again] = receiver.accepted
  expect(object!.method).toBe('PUT')
  expect(object!.path).toMatch(
    new RegExp(`^/logs/davit/${environment.id}/\\d{4}/\\d\\d/\\d\\d/\\d{6}-\\w+-0{11}1.ndjson.gz$`),
  )
  expect(again).toBeUndefined()
  expect(isSignedWith('very-secret-key', object!)).toBe(true)
  expect(isSignedWith('another-key', object!)).toBe(false)
  expect(receiver.refused.map(({ path }) => path)).toEqual([object!.path])
  const lines = Buffer.from(gunzipSync(object!.body)).toString().trim().split('\n')
  expect(lines).toHaveLength(20_000)
  expect(JSON.parse(lines[0]!)).toMatchObject({ seq: 1, text: 'line 1', environment: 'production' })
  expect(await shown()).toMatchObject({ sent: 20_000, waiting: 2 })
  expect(JSON.stringify(await shown())).not.toContain('very-secret')
  expect(t.db.$client.query('SELECT secret_key FROM drains').get()).not.toEqual({
    secret_key: 'very-secret-key',
  })
})

test('S3: the reason of a refusal is its code, and nothing is dropped', async () => {
  const receiver = httpReceiver()
  const { ada, one, write, send, shown } = await drained({
    ...{ kind: 's3', endpoint: receiver.url, bucket: 'logs' },
    ...{ accessKey: 'AKIA', secretKey: 'very-secret-key' },
  })
  receiver.always(
    status(403, '<Error><Code>SignatureDoesNotMatch</Code><Message>x</Message></Error>'),
  )
  write(20_001)
  await send()
  const { problem, ...rest } = await shown()
  expect(problem.message).toContain('SignatureDoesNotMatch')
  expect(rest).toMatchObject({ sent: 0, dropped: 0, waiting: 20_001 })
  expect((await ada.post(`${one}/test`)).status).toBe(503)
})

for (const tls of [false, true])
  test(`syslog over ${tls ? 'TLS' : 'TCP'}: messages are as RFC 5424 says`, async () => {
    const receiver = await syslogReceiver({ tls })
    const t = simulatedApp()
    const { write, send, shown } = await drained(
      { kind: 'syslog', host: '127.0.0.1', port: receiver.port, tls },
      t,
    )
    write(1, () => 'WARN: ünïcode 😀')
    write(999)
    await send({ app: trusting(t) })
    expect(receiver.messages).toHaveLength(1000)
    expect(receiver.messages[0]).toMatch(
      /^<132>1 \d{4}-\d\d-\d\dT[\d:.]+Z site-\w+\.production web c1 stdout - WARN: ünïcode 😀$/,
    )
    expect(receiver.messages[1]).toStartWith('<134>1 ')
    expect(await shown()).toMatchObject({ sent: 1000, waiting: 0, problem: null })
  })

test('syslog: a receiver that doesn’t close, refuses TLS or isn’t there keeps the lines waiting', async () => {
  const plain = await syslogReceiver()
  const t = simulatedApp()
  const { write, send, shown, ada, one } = await drained(
    { kind: 'syslog', host: '127.0.0.1', port: plain.port, tls: true },
    t,
  )
  write(2)
  plain.server.once('connection', (socket) => socket.destroy())
  await send()
  expect((await shown()).problem).not.toBeNull()
  const trusted = await syslogReceiver({ tls: true })
  await ada.put(one, { port: trusted.port })
  await send({ later })
  expect((await shown()).problem.message).toContain('certificate')
  expect(trusted.messages).toEqual([])
  plain.server.close()
  await ada.put(one, { port: plain.port, tls: false })
  await send({ later })
  expect(await shown()).toMatchObject({ waiting: 2, sent: 0, dropped: 0 })
  const silent = await syslogReceiver({ answers: 'hangs' })
  await ada.put(one, { port: silent.port })
  const over = new AbortController()
  t.drains.sendDue(Date.now() + later, over)
  while (silent.messages.length < 2) await new Promise(setImmediate)
  over.abort()
  await t.drains.idle()
  expect(await shown()).toMatchObject({ waiting: 2, sent: 0 })
  const early = await syslogReceiver({ answers: 'ends' })
  write(998, (n) => `line ${n} ${'x'.repeat(500)}`)
  await ada.put(one, { port: early.port })
  await send({ later })
  expect(await shown()).toMatchObject({ waiting: 1000, sent: 0, dropped: 0 })
  const right = await syslogReceiver()
  await ada.put(one, { port: right.port })
  await send({ later })
  expect(right.messages).toHaveLength(1000)
})
