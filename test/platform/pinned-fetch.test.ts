import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { type FetchRequest, type Pinning, pinnedFetch } from '../../src/platform/pinned-fetch.ts'
import { gitExample } from '../support/tls.ts'

let answer: (request: Request) => Response | Promise<Response>
let requests: { url: string; host: string | null; accept: string | null }[]
beforeEach(() => {
  requests = []
  answer = () => new Response('hello')
})

const serve = (tls?: typeof gitExample) =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    ...(tls && { tls }),
    fetch(request) {
      const { url, headers } = request
      requests.push({ url, host: headers.get('Host'), accept: headers.get('Accept') })
      return answer(request)
    },
  })
const plain = serve()
const secure = serve(gitExample)
const elsewhere = serve()
afterAll(() => Promise.all([plain, secure, elsewhere].map((server) => server.stop(true))))

const address = `http://127.0.0.1:${plain.port}`
const ask = (url: string, options: Partial<Pinning> = {}, asked: FetchRequest = {}) =>
  pinnedFetch(url, asked, {
    allow: ['127.0.0.1'],
    signal: new AbortController().signal,
    ...options,
  })
const failure = (...parameters: Parameters<typeof ask>) =>
  ask(...parameters).then(
    () => Promise.reject(new Error('It was answered.')),
    (error) => error,
  )
const lookup = async () => ['127.0.0.1']

describe('a host', () => {
  test('is asked by the address that was checked, under its name', async () => {
    const url = `http://git.example:${plain.port}/a?b=c`
    const response = await ask(url, { lookup }, { headers: { Accept: 'text/plain' } })
    expect(await response.text()).toBe('hello')
    expect(requests[0]).toMatchObject({ host: `git.example:${plain.port}`, accept: 'text/plain' })
    expect(new URL(requests[0]!.url).search).toBe('?b=c')
  })

  test('is looked up once: a second answer of the name server changes nothing', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.2']]
    answer = ({ url }) =>
      url.endsWith('/b')
        ? new Response('b')
        : new Response(null, { status: 302, headers: { Location: '/b' } })
    const response = await ask(`http://git.example:${plain.port}/a`, {
      lookup: async () => answers.shift()!,
    })
    expect(await response.text()).toBe('b')
    expect(answers).toHaveLength(1)
  })

  test('with one private address among public ones is not asked', async () => {
    const error = await failure(`http://rebind.example:${plain.port}/`, {
      allow: [],
      lookup: async () => ['8.8.8.8', '127.0.0.1'],
    })
    expect(error.code).toBe('host_refused')
    expect(error.message).toContain('DAVIT_ALLOW_HOSTS')
    expect(error.message).not.toContain('127.0.0.1')
    expect(requests).toHaveLength(0)
  })

  test.each(['127.0.0.1', 'localhost', '2130706433', '0x7f000001', '[::ffff:127.0.0.1]'])(
    'written %s is private, however it is spelled',
    async (host) => {
      const error = await failure(`http://${host}:${plain.port}/`, { allow: [] })
      expect(error).toMatchObject({ code: 'host_refused' })
      expect(requests).toHaveLength(0)
    },
  )

  test('with an address that can’t be reached is asked at the next one', async () => {
    const url = `http://git.example:${plain.port}/`
    const addresses = async () => ['127.0.0.9', '127.0.0.1']
    const response = await ask(url, { allow: ['127.0.0.0/8'], lookup: addresses })
    expect(await response.text()).toBe('hello')
  })
})

describe('a certificate', () => {
  const url = `https://git.example:${secure.port}/`

  test('is checked against the name, not the address', async () => {
    const response = await ask(url, { lookup, ca: gitExample.cert })
    expect(await response.text()).toBe('hello')
  })

  test('of another name is refused', async () => {
    const error = await failure(`https://other.example:${secure.port}/`, {
      lookup,
      ca: gitExample.cert,
    })
    expect(error).toMatchObject({ code: 'certificate_refused' })
  })

  test('of an unknown issuer is refused', async () => {
    expect(await failure(url, { lookup })).toMatchObject({
      code: 'certificate_refused',
      message: expect.stringContaining('git.example'),
    })
  })
})

describe('a redirect', () => {
  const to = (location: string, status = 302) =>
    new Response(null, { status, headers: { Location: location } })

  test('to another host is not followed', async () => {
    answer = () => to(`http://127.0.0.1:${elsewhere.port}/internal`)
    const error = await failure(`${address}/`, {}, { headers: { Authorization: 'Bearer x' } })
    expect(error).toMatchObject({ code: 'redirected' })
    expect(error.message).not.toContain(String(elsewhere.port))
    expect(requests).toHaveLength(1)
  })

  test.each(['//evil.example/', 'http:///', 'ftp://127.0.0.1/', 'file:///etc/passwd'])(
    'to %s is not followed',
    async (location) => {
      answer = () => to(location)
      expect(await failure(`${address}/`)).toMatchObject({ code: 'redirected' })
    },
  )

  test('within the host is followed three times at most', async () => {
    let left = 3
    answer = () => (left-- > 0 ? to('/again') : new Response('there'))
    expect(await (await ask(`${address}/`)).text()).toBe('there')
    answer = () => to('/again')
    expect(await failure(`${address}/`)).toMatchObject({ code: 'redirected' })
  })

  test('keeps the method where it says so, and else asks with GET', async () => {
    const seen: string[] = []
    for (const status of [302, 307]) {
      answer = async (request) => {
        if (!request.url.endsWith('/there')) return to('/there', status)
        seen.push(`${request.method} ${await request.text()}`)
        return new Response('')
      }
      await ask(`${address}/`, {}, { method: 'POST', body: '{}' })
    }
    expect(seen).toEqual(['GET ', 'POST {}'])
  })
})

describe('an answer', () => {
  test('that is no success is an answer', async () => {
    answer = () => new Response('no', { status: 404, headers: { 'X-Left': '3' } })
    const response = await ask(`${address}/`)
    expect([response.status, response.headers.get('X-Left'), await response.text()]).toEqual([
      404,
      '3',
      'no',
    ])
  })

  test('without a body has none', async () => {
    answer = () => new Response(null, { status: 204 })
    expect((await ask(`${address}/`)).status).toBe(204)
  })

  test('larger than the limit is cut off, compressed or not', async () => {
    const big = 'x'.repeat(100_000)
    answer = () => new Response(big)
    expect(await failure(`${address}/`, { maxBytes: 1_000 })).toMatchObject({
      code: 'answer_too_large',
    })
    answer = () => new Response(Bun.gzipSync(big), { headers: { 'Content-Encoding': 'gzip' } })
    expect(await failure(`${address}/`, { maxBytes: 1_000 })).toMatchObject({
      code: 'answer_too_large',
    })
  })

  test('that never comes, or never ends, is not waited for', async () => {
    answer = () => new Promise(() => {})
    expect(await failure(`${address}/`, { timeout: 50 })).toMatchObject({ code: 'host_timeout' })
    answer = () =>
      new Response(new ReadableStream({ start: (controller) => controller.enqueue('a') }))
    expect(await failure(`${address}/`, { timeout: 50 })).toMatchObject({ code: 'host_timeout' })
  })

  test('is not waited for after an abort', async () => {
    const abort = new AbortController()
    answer = () => {
      abort.abort(new Error('Enough.'))
      return new Promise(() => {})
    }
    const error = await failure(`${address}/`, { signal: abort.signal })
    expect(error).toMatchObject({ message: 'Enough.' })
  })

  test('of a port where no one listens, or no HTTP is spoken, is a failure without details', async () => {
    const mute = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { open: (socket) => void socket.end('220 secret banner\r\n'), data() {} },
    })
    const closed = await failure('http://127.0.0.1:1/')
    const spoken = await failure(`http://127.0.0.1:${mute.port}/`)
    mute.stop(true)
    expect(closed).toMatchObject({ code: 'host_unreachable' })
    expect(spoken.message.replace(/:\d+/, '')).toBe(closed.message.replace(/:\d+/, ''))
  })
})

describe('a redirect to another host', () => {
  const secureUrl = `https://git.example:${secure.port}/b`
  const leaving = { mayLeave: true, lookup, ca: gitExample.cert }
  const logins: (string | null)[] = []
  const headers = { Authorization: 'Basic secret', Accept: 'text/plain' }
  const redirecting = (to: string) => (request: Request) => {
    logins.push(request.headers.get('Authorization'))
    if (request.url.endsWith('/b')) return new Response('b')
    return new Response(null, { status: 307, headers: { Location: to } })
  }

  test('is followed by HTTPS where that is allowed, without the login', async () => {
    answer = redirecting(secureUrl)
    const response = await ask(`${address}/a`, leaving, { headers })
    expect(await response.text()).toBe('b')
    expect(logins.splice(0)).toEqual(['Basic secret', null])
    expect(requests.map(({ accept }) => accept)).toEqual(['text/plain', 'text/plain'])
  })

  test('is refused by plain HTTP, to a private address, and where it is not allowed', async () => {
    for (const [to, code, options] of [
      [`http://127.0.0.1:${elsewhere.port}/b`, 'redirected', leaving],
      ['https://10.1.2.3/b', 'host_refused', leaving],
      [secureUrl, 'redirected', { lookup, ca: gitExample.cert }],
    ] as const) {
      answer = redirecting(to)
      expect((await failure(`${address}/a`, options, { headers })).code).toBe(code)
    }
  })
})
