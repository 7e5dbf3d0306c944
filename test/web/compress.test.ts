import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { everything } from '../support/everything.ts'
import { listening } from '../support/listening.ts'

const page = { Accept: 'text/html' }

const unpack = {
  gzip: (bytes: ArrayBuffer) => Bun.gunzipSync(bytes),
  zstd: (bytes: ArrayBuffer) => Bun.zstdDecompressSync(bytes),
}

/** What the answer says, whatever it came in. */
async function textOf(answer: Response) {
  const bytes = await answer.arrayBuffer()
  const encoding = answer.headers.get('Content-Encoding') as keyof typeof unpack | null
  return new TextDecoder().decode(encoding ? unpack[encoding](bytes) : bytes)
}

test.each([
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, deflate', 'gzip'],
  ['zstd;q=0, gzip;q=0.5', 'gzip'],
  ['GZIP', 'gzip'],
  ['br', null],
  ['gzip;q=0', null],
  ['gzip; q=0.000', null],
  ['identity', null],
  ['', null],
] as const)('a page for a client that accepts %p is sent as %p', async (accepted, encoding) => {
  const ada = testApp().logInAsAdmin('ada@example.com')
  const headers = { ...page, ...(accepted && { 'Accept-Encoding': accepted }) }
  const answer = await ada.send('/settings/audit', { headers })
  expect(answer.headers.get('Content-Encoding')).toBe(encoding)
  expect(answer.headers.get('Vary')).toMatch(/^Accept, .*, Accept-Encoding$/)
  const text = await textOf(answer)
  expect(text).toStartWith('<!DOCTYPE html>')
  expect(text).toEndWith('</html>')
})

test('what programs are answered is compressed, and what is short is not', async () => {
  const ada = testApp().logInAsAdmin('ada@example.com')
  const headers = { Accept: 'application/json', 'Accept-Encoding': 'gzip' }
  const long = await ada.send('/api/openapi.json', { headers })
  expect(long.headers.get('Content-Encoding')).toBe('gzip')
  expect(JSON.parse(await textOf(long))).toMatchObject({ openapi: '3.1.0' })
  const short = await ada.send('/health', { headers })
  expect(short.headers.get('Content-Encoding')).toBeNull()
  expect(short.headers.get('Vary')).toContain('Accept-Encoding')
  expect(await short.json()).toEqual({ status: 'ok' })
})

test('lines of a log are compressed as they are made, a file of them is not', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  const { project, deployment } = await everything(t, ada)
  const headers = { Accept: 'application/json', 'Accept-Encoding': 'gzip' }
  const log = `/projects/${project}/deployments/${deployment}/logs`
  const lines = await ada.send(`${log}?search=x`, { headers })
  expect(lines.headers.get('Content-Encoding')).toBe('gzip')
  expect(JSON.parse(await textOf(lines))).toMatchObject({ items: [], found: 0 })
  const file = await ada.send(`${log}?download=1`, { headers })
  expect(file.headers.get('Content-Disposition')).toStartWith('attachment')
  expect(file.headers.get('Content-Encoding')).toBeNull()
})

test('over a socket: HEAD has the headers of GET, the length is right, cookies are all there', async () => {
  const { port } = listening(testApp())
  const headers = { ...page, 'Accept-Encoding': 'gzip' }
  const ask = (method: string) =>
    fetch(`http://127.0.0.1:${port}/auth/register`, { method, headers, decompress: false })
  const [got, head] = [await ask('GET'), await ask('HEAD')]
  const body = await got.arrayBuffer()
  expect(got.headers.get('Content-Length')).toBe(String(body.byteLength))
  expect(new TextDecoder().decode(Bun.gunzipSync(body))).toContain('</html>')
  for (const name of ['Content-Encoding', 'Vary', 'Content-Type', 'Content-Security-Policy'])
    expect(head.headers.get(name), name).toBe(got.headers.get(name))
  expect(await head.text()).toBe('')
  const cookies = got.headers.getSetCookie().map((line) => line.split('=')[0])
  expect(cookies.toSorted()).toEqual(['svc_csrf', 'svc_visitor'])
})

test('a refusal and a page that is not found are compressed as well', async () => {
  const { app } = testApp()
  for (const path of ['/nothing', '/auth/oauth/callback?code=x']) {
    const answer = await app.request(path, { headers: { ...page, 'Accept-Encoding': 'zstd' } })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.headers.get('Content-Encoding'), path).toBe('zstd')
    expect(await textOf(answer)).toContain('</html>')
  }
})

test('an answer that shows a secret is compressed by no one, also on the way', async () => {
  const t = testApp({ DAVIT_REGISTRATION: 'invite' })
  const ada = t.logInAsAdmin('ada@example.com')
  const { service } = await everything(t, ada)
  const headers = { ...page, 'Accept-Encoding': 'gzip' }
  const answers = [
    await ada.send(`/services/${service}/secrets`, { headers }),
    await ada.send('/settings/invites', { method: 'POST', headers }),
    await ada.send('/settings/tokens', {
      method: 'POST',
      headers,
      body: new URLSearchParams({ name: 'second', scopes: 'read' }),
    }),
  ]
  for (const answer of answers) {
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Cache-Control')).toBe('no-store, no-transform')
    expect(answer.headers.get('Content-Encoding')).toBeNull()
  }
})

test('a stream of events is not compressed', async () => {
  const ada = testApp().logInAsAdmin('ada@example.com')
  const headers = { Accept: 'text/event-stream', 'Accept-Encoding': 'gzip, zstd' }
  const answer = await ada.send('/settings/events/notices', { headers })
  expect(answer.headers.get('Content-Type')).toStartWith('text/event-stream')
  expect(answer.headers.get('Content-Encoding')).toBeNull()
  await answer.body!.cancel()
})
