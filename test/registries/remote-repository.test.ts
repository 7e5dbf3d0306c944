import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { parseReference } from '../../src/registries/image-registry.ts'
import { RemoteRepository } from '../../src/registries/remote-repository.ts'

type Answer = (request: Request, url: URL) => Response | Promise<Response>

let answer: Answer
let asked: { path: string; method: string; authorization: string | null }[]
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const url = new URL(request.url)
    const authorization = request.headers.get('Authorization')
    asked.push({ path: url.pathname + url.search, method: request.method, authorization })
    return answer(request, url)
  },
})
afterAll(() => server.stop(true))
beforeEach(() => {
  asked = []
})

const host = `127.0.0.1:${server.port}`
const login = { username: 'ada', password: 'geheim', serveraddress: host }
const digest = `sha256:${'a'.repeat(64)}`

function repository({ auth, timeout = 5000, name = `${host}/team/app`, onBusy }: Given = {}) {
  const machine = async () => ({ insecureRegistries: ['127.0.0.0/8'] }) as never
  return new RemoteRepository(
    { config: { allowHosts: ['127.0.0.1'] }, docker: { machine } },
    {
      reference: parseReference(name)!,
      auth,
      timeout,
      onBusy,
      ownerId: 'ada',
      signal: new AbortController().signal,
    },
  )
}
type Given = {
  auth?: typeof login | undefined
  timeout?: number
  name?: string
  onBusy?: (until: number) => void
}

const tags = (list: unknown, headers: Record<string, string> = {}) =>
  Response.json({ name: 'team/app', tags: list }, { headers })
const codeOf = (work: Promise<unknown>) =>
  work.then(
    (value) => value,
    (error) => error.code as string,
  )

describe('the newest tag', () => {
  test('is found over all pages, whatever host their links name', async () => {
    answer = (_, url) => {
      const last = url.searchParams.get('last')
      const link = (tag: string) => ({
        Link: `<http://internal:5000/v2/team/app/tags/list?last=${tag}&n=1000>; rel="next"`,
      })
      if (last === null) return tags(['1.0.0', '1.10.0'], link('1.10.0'))
      return last === '1.10.0' ? tags(['1.9.0'], link('1.9.0')) : tags(['2.0.0', 'latest'])
    }
    expect(await repository().newest('1.*')).toEqual({ tag: '1.10.0', etag: null })
    expect(asked.map(({ path }) => path)).toEqual([
      '/v2/team/app/tags/list?n=1000',
      '/v2/team/app/tags/list?last=1.10.0&n=1000',
      '/v2/team/app/tags/list?last=1.9.0&n=1000',
    ])
  })

  test('is not looked for again in a list that has not changed', async () => {
    answer = (request) =>
      request.headers.get('If-None-Match') === '"one"'
        ? new Response(null, { status: 304 })
        : tags(['1.0'], { ETag: '"one"' })
    const found = await repository().newest('1.*')
    expect(found).toEqual({ tag: '1.0', etag: '"one"' })
    expect(await repository().newest('1.*', '"one"')).toBe('unchanged')
  })

  test('is found where the registry redirects within its host, with the login', async () => {
    answer = (request, { pathname }) => {
      if (request.headers.get('Authorization') === null)
        return new Response(null, {
          status: 401,
          headers: { 'WWW-Authenticate': 'Basic realm="r"' },
        })
      return pathname.startsWith('/v2/') ? Response.redirect('/moved', 307) : tags(['1.0'])
    }
    expect(await repository({ auth: login }).newest('1.*')).toMatchObject({ tag: '1.0' })
  })

  test('is none in a repository without tags', async () => {
    answer = () => tags(null)
    expect(await repository().newest('*')).toEqual({ tag: null, etag: null })
  })
})

describe('the digest of a tag', () => {
  test('is asked by HEAD, which counts as no pull', async () => {
    answer = () => new Response(null, { headers: { 'Docker-Content-Digest': digest } })
    expect(await repository().digest('1')).toBe(digest)
    expect(asked).toMatchObject([{ method: 'HEAD', path: '/v2/team/app/manifests/1' }])
  })

  test('is that of the bytes where the registry does not say it', async () => {
    answer = () => new Response('{}', { headers: { 'Docker-Content-Digest': 'sha256:short' } })
    const hash = new Bun.CryptoHasher('sha256').update('{}').digest('hex')
    expect(await repository().digest('1')).toBe(`sha256:${hash}`)
    expect(await codeOf(repository().manifest(digest))).toBe('registry_garbled')
  })
})

describe('a registry that asks for a login', () => {
  const challenge = (realm: string) => ({
    status: 401,
    headers: { 'WWW-Authenticate': `Bearer realm="${realm}",service="s",scope="anything:*"` },
  })

  test('gets a token of its own server, for this repository and pulls only, once', async () => {
    answer = (request, { pathname }) =>
      pathname === '/token'
        ? Response.json({ access_token: 'granted' })
        : request.headers.get('Authorization') === 'Bearer granted'
          ? tags(['1.0'])
          : new Response(null, challenge(`http://${host}/token`))
    const one = repository({ auth: login })
    await one.newest('1.*')
    await one.newest('1.*')
    expect(asked.map(({ path, authorization }) => [path, authorization])).toEqual([
      ['/v2/team/app/tags/list?n=1000', null],
      ['/token?service=s&scope=repository%3Ateam%2Fapp%3Apull', `Basic ${btoa('ada:geheim')}`],
      ['/v2/team/app/tags/list?n=1000', 'Bearer granted'],
      ['/v2/team/app/tags/list?n=1000', 'Bearer granted'],
    ])
  })

  test('gets the login itself where it asks for that, and none without one', async () => {
    answer = (request) =>
      request.headers.get('Authorization') === `Basic ${btoa('ada:geheim')}`
        ? tags(['1.0'])
        : new Response(null, { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="r"' } })
    expect(await repository({ auth: login }).newest('1.*')).toMatchObject({ tag: '1.0' })
    expect(await codeOf(repository().newest('1.*'))).toBe('registry_unauthorized')
  })

  test.each([
    ['over and over', `http://${host}/token`],
    ['by plain HTTP elsewhere', 'http://127.0.0.1:9/token'],
    ['at a private address', 'https://10.0.0.1/token'],
    ['of a file', 'file:///etc/passwd'],
    ['nowhere', ''],
  ])('%s gets no second one, and no password', async (_, realm) => {
    answer = (_, { pathname }) =>
      pathname === '/token'
        ? Response.json({ token: 'useless' })
        : new Response(null, challenge(realm))
    const code = await codeOf(repository({ auth: login }).newest('1.*'))
    expect(['registry_unauthorized', 'host_refused']).toContain(code as string)
    expect(asked.length).toBeLessThanOrEqual(3)
  })

  test.each([
    ['no JSON', 'hello'],
    ['a line break', JSON.stringify({ token: 'a\r\nX-Evil: 1' })],
    ['nothing', '{}'],
  ])('a token that is %s is not sent', async (_, body) => {
    answer = (_, { pathname }) =>
      pathname === '/token'
        ? new Response(body)
        : new Response(null, challenge(`http://${host}/token`))
    expect(await codeOf(repository().newest('1.*'))).toBe('registry_garbled')
  })
})

describe('a registry that misbehaves', () => {
  const next = (query: string) => ({ Link: `<?${query}>; rel="next"` })
  const cases: [string, Answer, code: string][] = [
    ['answers with HTML', () => new Response('<html>'), 'registry_garbled'],
    ['answers with another JSON', () => Response.json({ tags: 'all' }), 'registry_garbled'],
    ['nests deeply', () => new Response('['.repeat(1_000_000)), 'registry_garbled'],
    ['repeats a page', () => tags(['1.0'], next('n=1000')), 'registry_garbled'],
    [
      'has endless pages',
      (_, url) => tags(['1.0'], next(`last=${Number(url.searchParams.get('last')) + 1}`)),
      'too_many_tags',
    ],
    ['sends a page of 3 MiB', () => tags(['x'.repeat(3 * 2 ** 20)]), 'answer_too_large'],
    ['is broken', () => new Response(null, { status: 500 }), 'registry_failed'],
    ['lacks it', () => new Response(null, { status: 404 }), 'image_not_found'],
    ['forbids it', () => new Response(null, { status: 403 }), 'registry_unauthorized'],
    [
      'redirects to a private address',
      () => Response.redirect('https://10.0.0.1/v2/', 307),
      'host_refused',
    ],
    [
      'redirects to the metadata of a cloud',
      () => Response.redirect('https://169.254.169.254/latest', 302),
      'host_refused',
    ],
    [
      'redirects to plain HTTP elsewhere',
      () => Response.redirect('http://127.0.0.1:9/'),
      'redirected',
    ],
    ['says 304 unasked', () => new Response(null, { status: 304 }), 'registry_failed'],
  ]
  test.each(cases)('and %s', async (_, does, code) => {
    answer = does
    expect(await codeOf(repository({ auth: login }).newest('1.*'))).toBe(code)
  })

  test('and says nothing, is given up', async () => {
    answer = () => new Promise(() => {})
    expect(await codeOf(repository({ timeout: 200 }).newest('1.*'))).toBe('host_timeout')
  })

  test.each([
    ['429 for a time', 429, { 'Retry-After': '120' }, 120],
    ['429 without one', 429, {}, 900],
    ['429 until a date', 429, { 'Retry-After': new Date(Date.now() + 600_000).toUTCString() }, 600],
    ['429 for a year', 429, { 'Retry-After': '31536000' }, 6 * 3600],
    ['that no pull is left', 200, { 'ratelimit-remaining': '0;w=21600' }, 900],
  ])('and says %s, is busy that long', async (_, status, headers, seconds) => {
    answer = () => new Response(JSON.stringify({ tags: ['1.0'] }), { status, headers })
    let until = 0
    const found = await codeOf(repository({ onBusy: (time) => (until = time) }).newest('1.*'))
    expect(found).toEqual(status === 429 ? 'registry_busy' : { tag: '1.0', etag: null })
    expect(Math.abs(until - Date.now() - seconds * 1000)).toBeLessThan(10_000)
  })

  test('and is private, is not asked unless the operator allows it', async () => {
    for (const name of [
      '10.0.0.1:5000/team/app',
      '169.254.169.254/a/b',
      'metadata.google.internal/a/b',
    ])
      expect(await codeOf(repository({ name }).newest('1.*'))).toBe('host_refused')
  })
})
