import { expect, test } from 'bun:test'
import { Drains } from '../../src/drains/drains.ts'
import { httpReceiver, status } from './receivers.ts'
import type { Received } from './receivers.ts'
import { drained, later } from './scene.ts'
import { scraped } from '../metrics/scene.ts'
import { until } from '../support/until.ts'

type Stream = { stream: Record<string, string>; values: [string, string][] }
const streamsOf = ({ body }: Received) => body.streams as Stream[]
const textsIn = (received: Received[]) =>
  received.flatMap(streamsOf).flatMap(({ values }) => values.map(([, text]) => text))

test('lines are sent as Loki documents it, in order, with the login and the headers', async () => {
  const loki = httpReceiver()
  const { write, send, shown } = await drained({
    ...{ kind: 'loki', url: `${loki.url}/`, username: 'ada', password: 'hunter22' },
    headers: 'X-Scope-OrgID: team\nX-Key: abcd',
  })
  write(2)
  write(1, () => 'GET / → 200', 'access')
  await send()
  const [received] = loki.accepted
  expect(received).toMatchObject({ method: 'POST', path: '/loki/api/v1/push' })
  expect(received!.headers.get('Authorization')).toBe(`Basic ${btoa('ada:hunter22')}`)
  expect(received!.headers.get('X-Scope-OrgID')).toBe('team')
  const [web, access] = streamsOf(received!)
  expect(web!.stream).toEqual({
    ...{ job: 'davit', project: expect.stringMatching(/^site/), environment: 'production' },
    ...{ process: 'web', stream: 'stdout' },
  })
  expect(web!.values.map(([, text]) => text)).toEqual(['line 1', 'line 2'])
  expect(BigInt(web!.values[0]![0])).toBeLessThan(BigInt(web!.values[1]![0]))
  expect(access!.stream.process).toBe('access')
  expect(await shown()).toMatchObject({ sent: 3, waiting: 0, dropped: 0, problem: null })
  expect(JSON.stringify(await shown())).not.toMatch(/hunter22|X-Scope/)
})

test('without requests their lines are passed over', async () => {
  const loki = httpReceiver()
  const { write, send, shown } = await drained({ kind: 'loki', url: loki.url, requests: false })
  write(2, () => 'GET / → 200', 'access')
  write(1)
  await send()
  expect(textsIn(loki.accepted)).toEqual(['line 3'])
  expect(await shown()).toMatchObject({ sent: 1, waiting: 0, dropped: 0 })
})

test('it begins with the lines after its creation, and goes on where it was after a restart', async () => {
  const loki = httpReceiver()
  const { t, write, send } = await drained({ kind: 'loki', url: loki.url })
  write(1500)
  await send()
  const restarted = { drains: new Drains(t.deps) }
  write(1)
  await send({ app: restarted })
  expect(textsIn(loki.accepted)).toEqual(Array.from({ length: 1501 }, (_, at) => `line ${at + 1}`))
  expect(loki.accepted.map((one) => textsIn([one]).length)).toEqual([1000, 500, 1])
})

test('a crash between the receipt and its note sends the same lines again, with the same times', async () => {
  const loki = httpReceiver()
  const { t, write, send, shown } = await drained({ kind: 'loki', url: loki.url })
  await send()
  write(3)
  const { writeAll } = t.logs
  t.logs.writeAll = () => {
    throw new Error('killed')
  }
  await send()
  t.logs.writeAll = writeAll
  await send({ app: { drains: new Drains(t.deps) } })
  const [first, second] = loki.accepted.map(streamsOf)
  expect(second).toEqual(first!)
  expect(await shown()).toMatchObject({ sent: 3, waiting: 0, dropped: 0 })
})

for (const [name, code] of [
  ['429', 429],
  ['500', 500],
  ['401', 401],
  ['404', 404],
  ['a redirect', 302],
] as const)
  test(`after ${name} nothing is lost: it waits, says why, and sends it later`, async () => {
    const loki = httpReceiver()
    const { t, write, send, shown, ada, environment } = await drained({
      kind: 'loki',
      url: loki.url,
      password: 'hunter22',
    })
    loki.next(status(code, 'no hunter22', { 'Retry-After': '30', Location: 'http://10.0.0.1/' }))
    write(2)
    await send()
    expect(loki.refused).toHaveLength(1)
    await send() // not yet
    await send({ later: 20_000 * Number(code === 429) })
    expect(loki.refused).toHaveLength(1)
    expect(await shown()).toMatchObject({
      sent: 0,
      waiting: 2,
      dropped: 0,
      problem: { message: expect.any(String) },
    })
    expect(JSON.stringify(await shown())).not.toContain('hunter22')
    const { of } = await scraped(t, ada)
    expect(of('davit_drain_lines_waiting', 'drain="central"')).toBe(2)
    expect(of('davit_drain_failing')).toBe(1)
    const { text } = await ada.page(`/envs/${environment.id}/drains`)
    expect(text).toContain('failing')
    expect(text).toContain('2 lines waiting')
    await send({ later })
    expect(textsIn(loki.accepted)).toEqual(['line 1', 'line 2'])
    expect(await shown()).toMatchObject({ sent: 2, waiting: 0, problem: null })
  })

test('a line that is refused is left out, the others around it are sent, and the log says so', async () => {
  const loki = httpReceiver()
  const { write, send, shown, texts } = await drained({ kind: 'loki', url: loki.url })
  loki.always((received) =>
    textsIn([received]).includes('line 7')
      ? status(400, 'entry too far behind')()
      : new Response(null, { status: 204 }),
  )
  write(20)
  for (let times = 0; times < 3; times++) await send({ later })
  const sent = textsIn(loki.accepted)
  expect(new Set(sent)).toEqual(
    new Set([
      ...Array.from({ length: 20 }, (_, at) => `line ${at + 1}`).filter(
        (text) => text !== 'line 7',
      ),
      sent.at(-1)!,
    ]),
  )
  expect(sent.length).toBe(20)
  expect(await shown()).toMatchObject({ sent: 20, dropped: 1, waiting: 0, problem: null })
  const said = (await texts()).filter((text) => text.startsWith('The log drain'))
  expect(said).toHaveLength(1)
  expect(said[0]).toContain('central left out 1 line')
  expect(sent.at(-1)).toBe(said[0]!)
})

test('a stretch of lines that are refused delays the others by no wait', async () => {
  const loki = httpReceiver()
  const { write, send, shown } = await drained({ kind: 'loki', url: loki.url })
  const isOld = (text: string) => Number(/^line (\d+)$/.exec(text)?.[1]) <= 150
  loki.always((received) =>
    textsIn([received]).some(isOld) ? status(400)() : new Response(null, { status: 204 }),
  )
  write(250)
  await send()
  const sent = textsIn(loki.accepted)
  expect(sent.filter((text) => text.startsWith('line '))).toEqual(
    Array.from({ length: 100 }, (_, at) => `line ${at + 151}`),
  )
  expect(sent.filter((text) => text.startsWith('Lines of the log drain'))).toHaveLength(2)
  expect(await shown()).toMatchObject({ dropped: 150, waiting: 0, problem: null })
})

test('a refused line waits where it can’t be asked whether others are taken', async () => {
  const loki = httpReceiver()
  const { write, send, shown } = await drained({ kind: 'loki', url: loki.url })
  loki.next(status(400), status(503))
  write(1)
  await send()
  expect(loki.refused).toHaveLength(2)
  expect(await shown()).toMatchObject({ sent: 0, dropped: 0, waiting: 1 })
  await send({ later })
  expect(await shown()).toMatchObject({ sent: 1, dropped: 0, waiting: 0, problem: null })
})

test('a receiver that refuses everything costs one line for each wait, and the log no line', async () => {
  const loki = httpReceiver()
  const { write, send, shown, texts } = await drained({ kind: 'loki', url: loki.url })
  loki.always(status(400))
  write(64)
  for (let times = 0; times < 3; times++) await send({ later })
  expect(await shown()).toMatchObject({ sent: 0, dropped: 3, waiting: 61 })
  expect(await texts()).toHaveLength(64)
})

test('lines that are removed before they could be sent are counted, and said once', async () => {
  const loki = httpReceiver()
  const { write, send, shown, texts, forgetOldest } = await drained({ kind: 'loki', url: loki.url })
  await send()
  loki.always(status(503))
  const long = (n: number) => `line ${n} ${'x'.repeat(10_000)}`
  write(30, long)
  await send()
  while (forgetOldest() !== null);
  const left = (await texts()).length
  expect(left).toBeLessThan(30)
  loki.always(null)
  await send({ later })
  await send({ later })
  expect(await shown()).toMatchObject({ dropped: 30 - left, sent: left + 1, waiting: 0 })
  expect(
    (await texts()).filter((text) => text.includes(`left out ${30 - left} lines`)),
  ).toHaveLength(1)
  write(1)
  await send()
  expect(await shown()).toMatchObject({ dropped: 30 - left, sent: left + 2, waiting: 0 })
})

test('a receiver that hangs delays no other, and no line that is written meanwhile', async () => {
  const slow = httpReceiver()
  const fast = httpReceiver()
  const hang = Promise.withResolvers<Response>()
  slow.always(() => hang.promise)
  const { t, write, ada, path, shown } = await drained({ kind: 'loki', url: slow.url })
  await ada.post(path, { kind: 'loki', name: 'fast', url: fast.url })
  write(1)
  const over = new AbortController()
  t.drains.sendDue(Date.now(), over)
  while (fast.accepted.length === 0) await new Promise(setImmediate)
  write(1)
  expect(await shown()).toMatchObject({ waiting: 2, sent: 0 })
  over.abort()
  await t.drains.idle()
  expect(await shown()).toMatchObject({ waiting: 2, sent: 0, problem: null })
  hang.resolve(new Response())
})

test('many of one user that hang delay no drain of another', async () => {
  const slow = httpReceiver()
  const fast = httpReceiver()
  slow.always(() => new Promise(() => {}))
  const { t, write, ada, path } = await drained({ kind: 'loki', url: slow.url })
  for (const name of ['b', 'c', 'd', 'e'])
    await ada.post(path, { kind: 'loki', name, url: slow.url })
  write(1)
  const bob = await drained({ kind: 'loki', url: fast.url }, t, t.logIn('bob@example.com'))
  bob.write(2500)
  const over = new AbortController()
  t.drains.sendDue(Date.now(), over)
  await until(async () => (await bob.shown()).sent === 2500)
  expect(await bob.shown()).toMatchObject({ waiting: 0 })
  over.abort()
  await t.drains.idle()
})

test('secrets are masked as in the log', async () => {
  const loki = httpReceiver()
  const { ada, write, send, environment } = await drained({ kind: 'loki', url: loki.url })
  const variable = { key: 'TOKEN', value: 'correct-horse-battery', secret: true }
  await ada.post(`/envs/${environment.id}/variables`, variable)
  write(1, () => 'the token is correct-horse-battery')
  await send()
  expect(textsIn(loki.accepted)).toEqual(['the token is ***'])
})

test('nothing is sent for a disabled user, and nothing is left of a deleted drain', async () => {
  const loki = httpReceiver()
  const { t, write, send, ada, one } = await drained({ kind: 'loki', url: loki.url })
  await send()
  write(1)
  t.db.$client.run('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.user.id])
  await send({ later })
  expect(loki.accepted).toEqual([])
  t.db.$client.run('UPDATE users SET disabled_at = NULL')
  expect((await ada.delete(one)).status).toBe(200)
  await send({ later })
  expect(loki.accepted).toEqual([])
  expect(t.logDb.$client.query('SELECT * FROM drain_cursors').all()).toEqual([])
})

test('a test tells whether the receiver takes lines', async () => {
  const loki = httpReceiver()
  const { ada, one } = await drained({ kind: 'loki', url: loki.url })
  expect((await ada.post(`${one}/test`)).status).toBe(200)
  expect(textsIn(loki.accepted)).toEqual(['This is a test by Davit.'])
  loki.next(status(401))
  const { status: code, json } = await ada.post(`${one}/test`)
  expect(code).toBe(503)
  expect(json.code).toBe('refused')
})
