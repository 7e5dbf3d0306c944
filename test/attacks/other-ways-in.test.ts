import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { requireUser } from '../../src/accounts/session.ts'
import { checkScope } from '../../src/accounts/token-scope.ts'
import { csrfCheck } from '../../src/web/csrf.ts'
import { answerError } from '../../src/web/failures.tsx'
import { factory } from '../../src/web/factory.ts'
import type { Env } from '../../src/web/factory.ts'
import { rateLimit } from '../../src/web/rate-limit.ts'
import { requireAdmin } from '../../src/web/user-of.ts'
import { testApp, withAda } from '../support/app.ts'
import { everything } from '../support/everything.ts'
import { listening } from '../support/listening.ts'
import { contentsOf } from '../support/refusals.ts'

const json = { Accept: 'application/json' }

/** Other spellings of a path, as they are in the first line of a request. */
const spellings = (path: string, id: string) => [
  `/${path}`,
  path.replace(id, `/${id}`),
  path.replace(id, `./${id}`),
  path.replace(id, `x/../${id}`),
  path.replace(id, `x/%2e%2e/${id}`),
  path.replace(id, `..%2f${path.split('/')[1]}%2f${id}`),
  path.replace(id, `${id}%00`),
  path.replace(id, `${id};x`),
  path.replace(id, `${id}%20`),
  path.replace(id, id.toUpperCase()),
  path.replace(id, id.replaceAll('-', '')),
  path.replace(id, `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`),
  path.toUpperCase().replace(id.toUpperCase(), id),
  `${path}/`,
  `${path}/.`,
  `${path}/..;/`,
  `${path}//`,
  `${path}?x=1#y`,
  `/static/..${path}`,
  `/static/..%2f${path.slice(1)}`,
  `/static/%2e%2e${path}`,
  `/health/..${path}`,
  `/login/..${path}`,
  `/webhooks/github/../..${path}`,
  `http://evil.example${path}`,
]

/** Sends exactly these lines, and answers with the status and the body. */
function raw(url: URL, lines: string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  let answer = ''
  const socket = connect(Number(url.port), url.hostname, () =>
    socket.write(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`),
  )
  socket.on('data', (data) => (answer += data))
  socket.on('error', reject)
  socket.on('close', () =>
    resolve({ status: Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1]), text: answer }),
  )
  return promise
}

test('no other spelling of an address leads past the login', async () => {
  const t = testApp()
  const { url } = listening(t)
  const ids = await everything(t, t.logIn('ada@example.com'))
  const before = contentsOf(t)
  for (const [path, id] of [
    [`/projects/${ids.project}`, ids.project],
    [`/envs/${ids.environment}/variables`, ids.environment],
    [`/services/${ids.service}`, ids.service],
    [`/containers/${ids.container}`, ids.container],
  ] as const)
    for (const spelling of [path, ...spellings(path, id)])
      for (const method of ['GET', 'DELETE', 'PROPFIND', 'TRACE']) {
        const lines = [
          `${method} ${spelling} HTTP/1.1`,
          'Host: localhost',
          'Accept: application/json',
        ]
        const { status, text } = await raw(url, lines)
        const sent = `${method} ${spelling}: ${text}`
        expect([400, 401, 403, 404, 405], sent).toContain(status)
        expect(text, sent).not.toContain('git.example.com')
      }
  expect(contentsOf(t)).toEqual(before)
})

test('no other spelling leads to what belongs to someone else', async () => {
  const t = testApp()
  const ids = await everything(t, t.logIn('ada@example.com'))
  const bob = t.logIn('bob@example.com')
  const path = `/projects/${ids.project}`
  for (const spelling of spellings(path, ids.project).filter((path) => path.startsWith('/')))
    expect([404, 405], spelling).toContain((await bob.get(spelling)).status)
})

test('a method is what the first line says, whatever a header, a field or the query says', async () => {
  const { t, ada } = withAda(testApp())
  const ids = await everything(t, ada)
  const path = `/projects/${ids.project}`
  const before = contentsOf(t)
  for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
    const headers = { ...json, [name]: 'DELETE' }
    expect((await ada.send(path, { headers })).status).toBe(200)
    expect((await ada.send(path, { method: 'POST', headers })).status).toBe(405)
  }
  expect((await ada.get(`${path}?_method=DELETE`)).status).toBe(200)
  const body = new URLSearchParams({ _method: 'DELETE' })
  expect((await ada.send(path, { method: 'POST', body, headers: json })).status).toBe(405)
  expect((await ada.get('/auth/logout')).status).toBe(405)
  expect(contentsOf(t)).toEqual(before)
})

test('two lengths, two hosts or two ways to say how long a body is are no request', async () => {
  const { url } = listening(testApp())
  const head = 'POST /auth/login HTTP/1.1'
  for (const more of [
    ['Host: localhost', 'Content-Length: 2', 'Content-Length: 30'],
    ['Host: localhost', 'Content-Length: 2', 'Transfer-Encoding: chunked'],
    ['Host: localhost', 'Content-Length: +2'],
    ['Host: localhost', 'Transfer-Encoding: xchunked'],
  ]) {
    const { status } = await raw(url, [head, ...more, 'Content-Type: application/json'])
    expect(status, more.join()).toBe(400)
  }
  const two = await raw(url, [
    'GET /projects HTTP/1.1',
    'Host: localhost',
    'Host: evil.example',
    'Accept: text/html',
  ])
  expect(two.text).not.toContain('evil.example')
})

test('a handler is not called once a request was refused', async () => {
  const deps = { config: { url: null }, secrets: testApp().secrets } as Parameters<
    typeof csrfCheck
  >[0] &
    Parameters<typeof requireUser>[0]
  const member = { id: 'm', email: 'm@example.com', name: null, role: 'member' } as const
  const token = { id: 't', name: 'ci', scopes: ['read'] } as Env['Variables']['token']
  const guards = {
    login: { guard: requireUser(deps), set: {}, status: 401 },
    admin: { guard: requireAdmin, set: { user: member }, status: 403 },
    scope: { guard: checkScope, set: { user: member, token }, status: 403 },
    csrf: { guard: csrfCheck(deps), set: { user: member }, status: 403 },
    rate: { guard: rateLimit({ rate: 0, burst: 0 }), set: {}, status: 429 },
  }
  for (const [name, { guard, set, status }] of Object.entries(guards)) {
    let called = 0
    const app = factory.createApp().use(async (c, next) => {
      for (const [key, value] of Object.entries({ user: null, token: null, session: null, ...set }))
        c.set(key as 'user', value as null)
      await next()
    })
    app.use(guard).post('/settings/x', (c) => {
      called++
      return c.json({})
    })
    app.onError(answerError)
    const answer = await app.request('/settings/x', { method: 'POST', headers: json })
    expect([answer.status, called], name).toEqual([status, 0])
  }
})
