import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'bun:test'
import { fakeService, failureOf, httpKinds, message, send, settingsOf } from './fake-service.ts'
import type { HttpKind } from './fake-service.ts'

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    Response.json(body, { status, headers })
const text =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  () =>
    new Response(body, { status, headers })

/** What each service responds, by its documentation. */
const documented: Record<
  HttpKind,
  {
    accepts: () => Response
    refuses: () => Response
    reason: string
    limits: () => Response
    seconds: number
  }
> = {
  webhook: {
    accepts: text(204, ''),
    refuses: text(410, ''),
    reason: '410',
    limits: text(429, '', { 'Retry-After': '30' }),
    seconds: 30,
  },
  slack: {
    accepts: text(200, 'ok'),
    refuses: text(404, 'no_service'),
    reason: 'no_service',
    limits: text(429, 'rate_limited', { 'Retry-After': '30' }),
    seconds: 30,
  },
  discord: {
    accepts: () => new Response(null, { status: 204 }),
    refuses: json(401, { message: 'Invalid Webhook Token', code: 50027 }),
    reason: 'Invalid Webhook Token',
    limits: json(429, {
      message: 'You are being rate limited.',
      retry_after: 64.57,
      global: false,
    }),
    seconds: 65,
  },
  telegram: {
    accepts: json(200, { ok: true, result: { message_id: 1 } }),
    refuses: json(401, { ok: false, error_code: 401, description: 'Unauthorized' }),
    reason: 'Unauthorized',
    limits: json(429, {
      ok: false,
      error_code: 429,
      description: 'Too Many Requests: retry after 14',
      parameters: { retry_after: 14 },
    }),
    seconds: 14,
  },
  ntfy: {
    accepts: json(200, { id: 'x', event: 'message', topic: 'ops' }),
    refuses: json(403, { code: 40301, http: 403, error: 'forbidden' }),
    reason: 'forbidden',
    limits: json(429, { code: 42901, http: 429, error: 'limit reached' }, { 'Retry-After': '60' }),
    seconds: 60,
  },
  gotify: {
    accepts: json(200, { id: 25, appid: 5 }),
    refuses: json(401, {
      error: 'Unauthorized',
      errorCode: 401,
      errorDescription: 'you need to provide a valid access token Asecret',
    }),
    reason: 'you need to provide a valid access token •••',
    limits: () =>
      json(429, {}, { 'Retry-After': new Date(Date.now() + 3_600_000).toUTCString() })(),
    seconds: 3600,
  },
  matrix: {
    accepts: json(200, { event_id: '$x' }),
    refuses: json(403, { errcode: 'M_FORBIDDEN', error: 'You are not in the room' }),
    reason: 'You are not in the room',
    limits: json(429, { errcode: 'M_LIMIT_EXCEEDED', error: 'Too fast', retry_after_ms: 2500 }),
    seconds: 3,
  },
  pushover: {
    accepts: json(200, { status: 1, request: 'x' }),
    refuses: json(400, { status: 0, errors: ['application token is invalid'], request: 'x' }),
    reason: 'application token is invalid',
    limits: json(429, { status: 0, errors: ['limit reached'] }),
    seconds: 0,
  },
}

const trial = (kind: HttpKind, respond: () => Response | Promise<Response>) => {
  const service = fakeService(respond)
  return { ...service, settings: settingsOf(service.origin)[kind] }
}

describe.each(httpKinds)('%s', (kind) => {
  const { accepts, refuses, reason, limits, seconds } = documented[kind]

  test('sends a message once, and returns the status', async () => {
    const service = trial(kind, accepts)
    expect(await send(kind, service)).toEqual({ status: String(accepts().status) })
    expect(service.seen).toHaveLength(1)
    const { text } = service.seen[0]!
    for (const part of ['shop failed', 'node:99', 'FROM line', 'davit.example.com/projects/1'])
      expect(text).toContain(part)
  })

  test('is refused for good with the reason, and no secret', async () => {
    const service = trial(kind, refuses)
    const failure = await failureOf(send(kind, service))
    expect(failure).toMatchObject({ code: 'refused', retry: false })
    expect(failure.message).toContain(reason)
    expect(failure.hint).not.toBe('')
    expect(`${failure.message} ${failure.hint} ${failure.stack}`).not.toMatch(
      /secret[^ ]|Asecret|_secret/,
    )
  })

  test('is told when to try again', async () => {
    const failure = await failureOf(send(kind, trial(kind, limits)))
    expect(failure.code).toBe('rate_limited')
    // a month is too long to wait for
    expect(failure.retry).toBe(kind !== 'pushover')
    if (seconds > 0) expect(Math.abs(failure.retryAfter! - seconds)).toBeLessThanOrEqual(1)
  })

  test('may try again after an error of the server, and after silence', async () => {
    const failure = await failureOf(send(kind, trial(kind, text(503, '<html>'))))
    expect(failure).toMatchObject({ code: 'refused', retry: true })
    const silent = trial(kind, () => new Promise(() => {}))
    const timeout = await failureOf(send(kind, { ...silent, timeout: 50 }))
    expect(timeout).toMatchObject({ code: 'host_timeout', retry: true })
    const away = await failureOf(send(kind, { ...silent, origin: 'http://127.0.0.1:1' }))
    expect(away).toMatchObject({ code: 'host_unreachable', retry: true })
  })

  test('follows no redirect, not even to the same server', async () => {
    const inner = fakeService(accepts)
    for (const target of [`${inner.origin}/`, '/elsewhere']) {
      const headers = { Location: target }
      const service = trial(kind, () => new Response(null, { status: 307, headers }))
      const failure = await failureOf(send(kind, service))
      expect(failure).toMatchObject({ code: 'redirected', retry: false })
      expect(service.seen).toHaveLength(1)
    }
    expect(inner.seen).toEqual([])
  })

  test('connects to no private address', async () => {
    const service = trial(kind, accepts)
    const failure = await failureOf(send(kind, { ...service, allowHosts: [] }))
    expect(failure).toMatchObject({ code: 'host_refused', retry: false })
    expect(service.seen).toEqual([])
  })

  test('isn’t confused by a long response, or one that isn’t JSON', async () => {
    const { status } = accepts()
    if (status === 204) return
    const service = trial(kind, () => new Response('[1,{'.repeat(100_000), { status }))
    expect(await send(kind, service)).toEqual({ status: String(status) })
  })
})

test('a webhook is signed as Standard Webhooks says, the same message with the same id', async () => {
  const service = trial('webhook', text(200, ''))
  await send('webhook', service)
  await send('webhook', service)
  const [first, second] = service.seen
  const { headers, text: body } = first!
  const { secret } = service.settings as { secret: string }
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`
  const expected = createHmac('sha256', key).update(signed).digest('base64')
  expect(headers.get('webhook-signature')).toBe(`v1,${expected}`)
  expect(headers.get('webhook-id')).toBe(second!.headers.get('webhook-id'))
  const age = Date.now() / 1000 - Number(headers.get('webhook-timestamp'))
  expect(Math.abs(age)).toBeLessThan(60)
  expect(first!.body).toMatchObject({
    type: 'deployment_failed',
    timestamp: '2026-11-26T21:00:00.000Z',
    data: { level: 'failure', url: message().url },
  })
})

test('a webhook that is away for a deployment may try again', async () => {
  const failure = await failureOf(send('webhook', trial('webhook', text(404, ''))))
  expect(failure).toMatchObject({ code: 'refused', retry: true })
})

test('tokens are sent where each service expects them', async () => {
  const sent = async (kind: HttpKind) => {
    const service = trial(kind, documented[kind].accepts)
    await send(kind, service)
    return service.seen[0]!
  }
  expect((await sent('slack')).path).toBe('/services/T0/B0/secretpart')
  expect((await sent('discord')).path).toBe('/api/webhooks/1/secretpart')
  expect((await sent('telegram')).path).toBe('/bot123456:secretsecretsecretsecret/sendMessage')
  const ntfy = await sent('ntfy')
  expect(ntfy).toMatchObject({ path: '/sub/', body: { topic: 'ops', priority: 4, tags: ['x'] } })
  expect(ntfy.headers.get('Authorization')).toBe('Bearer tk_secret')
  const gotify = await sent('gotify')
  expect([gotify.path, gotify.headers.get('X-Gotify-Key')]).toEqual(['/message', 'Asecret'])
  const matrix = await sent('matrix')
  expect(matrix).toMatchObject({
    method: 'PUT',
    path: '/_matrix/client/v3/rooms/!abc%3Aexample.org/send/m.room.message/0199-event',
  })
  expect(matrix.headers.get('Authorization')).toBe('Bearer syt_secret')
  expect(await sent('pushover')).toMatchObject({
    path: '/1/messages.json',
    body: { token: 'a'.repeat(30), user: 'u'.repeat(30), priority: 1, timestamp: 1795726800 },
  })
})

test('the address of a Matrix room is looked up', async () => {
  const service = fakeService(({ method }) =>
    Response.json(
      method === 'GET' ? { room_id: '!found:example.org', servers: [] } : { event_id: '$x' },
    ),
  )
  const settings = { ...settingsOf(service.origin).matrix, room: '#ops:example.org' }
  await send('matrix', { ...service, settings })
  expect(service.seen.map(({ path }) => path)).toEqual([
    '/_matrix/client/v3/directory/room/%23ops%3Aexample.org',
    '/_matrix/client/v3/rooms/!found%3Aexample.org/send/m.room.message/0199-event',
  ])
})
