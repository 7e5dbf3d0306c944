import { expect, spyOn, test } from 'bun:test'
import { journal } from '../src/platform/journal.ts'
import { testApp, withAda } from './support/app.ts'
import { listening } from './support/listening.ts'
import { contentsOf } from './support/refusals.ts'
import { aSession } from './support/session.ts'

const json = { Accept: 'application/json' }
const html = { Accept: 'text/html' }

const valid = { name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' }

test('a path that does not exist is answered in the form its client reads', async () => {
  const { app, logIn } = testApp()
  const ada = logIn('ada@example.com')
  for (const request of [
    (path: string, headers: Record<string, string>) => app.request(path, { headers }),
    (path: string, headers: Record<string, string>) => ada.send(path, { headers }),
  ]) {
    const page = await request('/nowhere', html)
    expect(page.status).toBe(404)
    expect(await page.text()).toContain('There is nothing at this address.')

    const problem = await request('/nowhere', json)
    expect(problem.headers.get('Content-Type')).toBe('application/problem+json')
    expect(await problem.json()).toEqual({
      type: 'about:blank',
      title: 'Not found',
      status: 404,
      detail: 'There is nothing at this address.',
      requestId: problem.headers.get('X-Request-Id')!,
    })

    const fragment = await request('/nowhere', { 'HX-Request': 'true' })
    expect(fragment.status).toBe(404)
    expect(await fragment.text()).toStartWith('<div class="alert"')
  }
})

test('a method that an address does not take is answered 405, logged in or not', async () => {
  const { app, logIn } = testApp()
  const ada = logIn('ada@example.com')
  const cases: [string, string, string][] = [
    ['PATCH', '/projects', 'GET, HEAD, POST'],
    ['DELETE', '/dashboard', 'GET, HEAD'],
    ['POST', '/health', 'GET, HEAD'],
    ['PUT', '/static/app.js', 'GET, HEAD'],
    ['GET', '/auth/logout', 'POST'],
    ['HEAD', '/auth/logout', 'POST'],
    ['OPTIONS', '/projects', 'GET, HEAD, POST'],
    ['GET', `/settings/sessions/${Bun.randomUUIDv7()}`, 'DELETE'],
    ['POST', `/projects/${Bun.randomUUIDv7()}`, 'DELETE, GET, HEAD, PUT'],
  ]
  for (const [method, path, allow] of cases)
    for (const answer of [
      await app.request(path, { method, headers: json }),
      await ada.send(path, { method, headers: json }),
    ]) {
      expect(answer.status, `${method} ${path}`).toBe(405)
      expect(answer.headers.get('Allow')!.split(', ').sort().join(', ')).toBe(allow)
      expect(answer.headers.get('X-Request-Id')).toBeTruthy()
    }
})

test('a HEAD is answered like its GET, without the body', async () => {
  const { app, logIn } = testApp()
  const ada = logIn('ada@example.com')
  for (const [path, status] of [
    ['/dashboard', 200],
    ['/projects', 200],
    ['/nowhere', 404],
    [`/projects/${Bun.randomUUIDv7()}`, 404],
  ] as const) {
    const answer = await ada.send(path, { method: 'HEAD', headers: html })
    expect(answer.status, path).toBe(status)
    expect(await answer.text()).toBe('')
  }
  expect((await app.request('/dashboard', { method: 'HEAD', headers: html })).status).toBe(303)
})

test('every page carries the headers that keep others out of it', async () => {
  const { t, ada } = withAda(testApp({ DAVIT_URL: 'https://davit.example.com' }))
  const { id } = (await ada.post('/projects', valid)).json
  const paths = [
    '/login',
    '/nowhere',
    '/dashboard',
    '/projects',
    '/projects/new',
    `/projects/${id}`,
  ]
  for (const path of [...paths, `/projects/${id}/settings`, `/projects/${id}/envs`]) {
    const { headers } = await ada.send(path, { headers: html })
    const policy = headers.get('Content-Security-Policy')!
    expect(policy, path).toContain("default-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(headers.get('Referrer-Policy')).toBe('same-origin')
    expect(headers.get('Strict-Transport-Security')).toBe('max-age=31536000')
    expect(headers.get('Cache-Control'), path).toBe('no-store')
    expect(headers.get('X-Request-Id')).toBeTruthy()
  }
  const anonymous = await t.app.request('/nowhere', { headers: html })
  expect(anonymous.headers.get('Content-Security-Policy')).toContain("default-src 'self'")
})

test('no page has a script or a style of its own', async () => {
  const ada = testApp().logIn('ada@example.com')
  const { id } = (await ada.post('/projects', valid)).json
  for (const path of [
    '/dashboard',
    '/projects/new',
    `/projects/${id}`,
    `/projects/${id}/settings`,
  ]) {
    const { text } = await ada.page(path)
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)/)
    expect(text).not.toMatch(/<style|\sstyle="|\son[a-z]+="|hx-on/)
  }
})

test('a body that is no JSON is a bad request, and one that is no object is refused', async () => {
  const { t, ada } = withAda(testApp())
  const before = contentsOf(t)
  const send = (body: string, type = 'application/json') =>
    ada.send('/projects', { method: 'POST', body, headers: { ...json, 'Content-Type': type } })
  for (const body of [
    '{',
    '{"name":}',
    'name=x',
    '[1,2',
    '\u0000',
    '['.repeat(200_000),
    '{"a":'.repeat(100_000),
  ])
    expect((await send(body)).status, body.slice(0, 20)).toBe(400)
  for (const body of ['[]', '7', '"x"', 'null', 'true', `${'['.repeat(1000)}${']'.repeat(1000)}`]) {
    const refused = await send(body)
    expect(refused.status, body.slice(0, 20)).toBe(422)
    const errors = [{ field: '', message: 'The body must be a JSON object.' }]
    expect(await refused.json()).toMatchObject({ errors })
  }
  for (const type of ['text/plain', 'application/xml', 'application/jsonx', 'image/png', ''])
    expect((await send(JSON.stringify(valid), type)).status, type).toBe(415)
  expect((await send('', 'application/json')).status).toBe(422)
  expect((await send('garbage', 'multipart/form-data; boundary=x')).status).toBeOneOf([400, 422])
  const deep = `{"name":${'['.repeat(1000)}${']'.repeat(1000)}}`
  expect((await send(deep)).status).toBe(422)
  expect(contentsOf(t)).toEqual(before)
})

test('of two JSON fields with one name the last counts; in a form each is a line', async () => {
  const ada = testApp().logIn('ada@example.com')
  const send = (method: string, path: string, body: string, type: string) =>
    ada
      .send(path, { method, body, headers: { ...json, 'Content-Type': type } })
      .then((answer) => answer.json() as Promise<{ id: string }>)
  const url = valid.repositoryUrl
  const asJson = `{"name":"a","name":"b","repositoryUrl":"${url}"}`
  const made = await send('POST', '/projects', asJson, 'application/json; charset=utf-8')
  expect(made).toMatchObject({ name: 'b' })
  const form = 'application/x-www-form-urlencoded'
  const asForm = `name=c&name=d&repository_url=${encodeURIComponent(url)}`
  expect(await send('POST', '/projects', asForm, form)).toMatchObject({ status: 422 })
  const settings = `/projects/${made.id}/settings`
  const boxes = 'auto_deploy=0&auto_deploy=1&build_args=A%3D1&build_args=B%3D2'
  expect(await send('PUT', settings, boxes, form)).toMatchObject({
    autoDeploy: true,
    buildArgs: { A: '1', B: '2' },
  })
})

test('a multipart form is a form, and a file is no text', async () => {
  const ada = testApp().logIn('ada@example.com')
  const send = (fields: Record<string, string | Blob>) => {
    const body = new FormData()
    for (const [name, value] of Object.entries(fields)) body.set(name, value)
    return ada.send('/projects', { method: 'POST', body, headers: json })
  }
  const made = await send({ name: 'site', repository_url: valid.repositoryUrl })
  expect(made.status).toBe(201)
  const refused = await send({ name: new Blob(['x']), repository_url: valid.repositoryUrl })
  expect(refused.status).toBe(422)
})

test.each([
  ['a user', 'larger than 1 MiB', 1_100_000, '/projects'],
  ['someone who is not logged in', 'over 16 KiB', 17_000, '/auth/login'],
])('a body of %s %s is refused, whatever it says of its length', async (who, _, size, path) => {
  const t = testApp()
  const Cookie =
    who === 'a user' ? `svc_session=${aSession(t, t.logIn('ada@example.com').user.id)}` : ''
  const before = contentsOf(t)
  const server = listening(t)
  const big = JSON.stringify({ ...valid, name: 'x'.repeat(size) })
  const headers = { ...json, 'Content-Type': 'application/json', Cookie }
  const chunked = () =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < big.length; at += 65_536)
          controller.enqueue(new TextEncoder().encode(big.slice(at, at + 65_536)))
        controller.close()
      },
    })
  for (const body of [big, chunked()]) {
    const answer = await fetch(new URL(path, server.url), { method: 'POST', body, headers })
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ title: 'Too large', status: 413 })
  }
  expect(contentsOf(t)).toEqual(before)
})

test('one client that asks too often is reported when to come back, and others are not', async () => {
  const t = testApp({
    DAVIT_RATE_LIMIT: '1',
    DAVIT_RATE_BURST: '3',
    DAVIT_TRUSTED_PROXIES: '127.0.0.1',
  })
  const server = listening(t)
  const ask = (client: string) =>
    fetch(new URL('/health', server.url), { headers: { ...json, 'X-Forwarded-For': client } })
  for (let i = 0; i < 3; i++) expect((await ask('198.51.100.1')).status).toBe(200)
  const refused = await ask('198.51.100.1')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('Retry-After')).toBe('1')
  expect(refused.headers.get('Content-Type')).toBe('application/problem+json')
  expect(refused.headers.get('X-Request-Id')).toBeTruthy()
  expect((await ask('198.51.100.2')).status).toBe(200)
})

test('an error of our own shows the request id, and nothing else', async () => {
  const { t, ada } = withAda(testApp())
  t.db.$client.run('ALTER TABLE projects RENAME TO hidden')
  using logged = spyOn(journal, 'error').mockImplementation(() => {})
  const answer = await ada.get('/projects')
  expect(answer.status).toBe(500)
  expect(logged.mock.calls[0]![2]).toMatchObject({ requestId: answer.json.requestId })
  expect(answer.json.requestId).toBe(answer.headers.get('X-Request-Id'))
  expect(answer.text).not.toMatch(/SQL|projects|at .*\.ts/)
  expect((await ada.page('/projects')).text).not.toMatch(/SQLite|no such table/)
})

test('JSON sends numbers, flags and lists as they are, only a form as texts', async () => {
  const ada = testApp().logIn('ada@example.com')
  const { json: project } = await ada.post('/projects', valid)
  const settings = `/projects/${project.id}/settings`
  for (const body of [{ keepImages: '7' }, { autoDeploy: '1' }, { buildArgs: 'A=1' }]) {
    const { status, json } = await ada.put(settings, body)
    expect({ status, field: json.errors?.[0].field }).toEqual({
      status: 422,
      field: Object.keys(body)[0],
    })
  }
  const form = { keep_images: '7', auto_deploy: '1', build_args: 'A=1' }
  expect((await ada.htmx('PUT', settings, form)).status).toBe(200)
  expect((await ada.get(settings)).json).toMatchObject({ keepImages: 7, buildArgs: { A: '1' } })
})
