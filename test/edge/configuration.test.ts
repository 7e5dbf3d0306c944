import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { pages } from '../../src/edge/pages.ts'
import { pageAddress } from '../../src/edge/plan.ts'
import { folderInside } from '../../src/edge/container.ts'
import { run } from '../support/machine/command.ts'
import { gitExample } from '../support/tls.ts'
import { freePort } from '../support/free-port.ts'
import { aHost, anEdge, signal } from './caddy.ts'

const edge = await anEdge()
edge.slots('app', edge.app(echo))
edge.slots(
  'other',
  edge.app(() => new Response('other')),
)

/** Says what it was asked, when it has read all of it. */
async function echo(request: Request) {
  await request.text()
  const { pathname, search } = new URL(request.url)
  return Response.json({
    path: pathname + search,
    ...Object.fromEntries(request.headers),
  })
}

const textOf = async (address: string, init?: RequestInit) => (await edge.get(address, init)).text()

describe('a host', () => {
  test('leads to its slots, however it is written', async () => {
    await edge.serve([aHost('app.test'), aHost('other.test', { target: { slots: 'other' } })])
    const asked = await (await edge.get('http://app.test/a?b=c')).json()
    expect(asked).toMatchObject({ path: '/a?b=c', host: 'app.test', 'x-forwarded-proto': 'http' })
    expect(await textOf('http://other.test/')).toBe('other')
    for (const Host of ['OTHER.Test', 'other.test.', 'Other.test:80', 'other.test.:80'])
      expect(await textOf('http://x.test/', { headers: { Host } })).toBe('other')
  })

  test('that no one has gets a plain 404', async () => {
    await edge.serve([aHost('app.test')])
    for (const name of ['nobody.test', 'www.app.test', '127.0.0.1']) {
      const response = await edge.get('http://app.test/', { headers: { Host: name } })
      expect([name, response.status, await response.text()]).toEqual([
        name,
        404,
        `${pages.nobody.title}.\n`,
      ])
    }
  })

  test('believes no X-Forwarded-For of a visitor', async () => {
    await edge.serve([aHost('app.test')])
    const headers = { 'X-Forwarded-For': '1.2.3.4', 'X-Forwarded-Proto': 'https' }
    const asked = await (await edge.get('http://app.test/', { headers })).json()
    expect(asked).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' })
  })

  test('has prefixes that lead elsewhere, the longest first', async () => {
    const site = (path: string, slots: string) => ({ path, target: { slots } })
    const sites = [site('/', 'app'), site('/api', 'other'), site('/api/v2', 'app')]
    await edge.serve([{ ...aHost('app.test'), sites }])
    expect(await textOf('http://app.test/api')).toBe('other')
    expect(await textOf('http://app.test/api/v1')).toBe('other')
    expect(await textOf('http://app.test/api/v2/x')).toContain('"/api/v2/x"')
    expect(await textOf('http://app.test/apis')).toContain('"/apis"')
  })

  test('with a prefix alone serves nothing beside it', async () => {
    await edge.serve([aHost('app.test', { path: '/api' })])
    expect((await edge.get('http://app.test/api/x')).status).toBe(200)
    expect((await edge.get('http://app.test/')).status).toBe(404)
  })

  test('refuses a target in which only the app would find the path', async () => {
    await edge.serve([aHost('app.test')])
    const told = async (target: string) => {
      const { promise, resolve } = Promise.withResolvers<string>()
      const socket = await Bun.connect({
        hostname: '127.0.0.1',
        port: edge.ports.http,
        socket: { data: (_, data) => resolve(data.toString().slice(9, 12)) },
      })
      socket.write(`GET ${target} HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n`)
      return promise
    }
    expect(await told('x:http://app.test/admin')).toBe('400')
    expect(await told('http:app.test/admin')).toBe('400')
    expect(await told('http://app.test/admin')).toBe('200')
    expect(await told('/admin')).toBe('200')
  })

  test('redirects to another, with path and query', async () => {
    const target = { redirect: 'https://app.test' }
    await edge.serve([aHost('www.app.test', { target })])
    const response = await edge.get('http://www.app.test/a/b?c=d')
    expect([response.status, response.headers.get('Location')]).toEqual([
      308,
      'https://app.test/a/b?c=d',
    ])
  })

  test('shows a page in place of its app, by its slots or by the configuration', async () => {
    edge.slots('idle', pageAddress(folderInside, 'stopped'))
    const idle = aHost('idle.test', { target: { slots: 'idle' } })
    await edge.serve([idle, aHost('busy.test', { target: { page: 'maintenance' } })])
    const stopped = await edge.get('http://idle.test/', { headers: { Accept: 'text/html' } })
    expect(stopped.status).toBe(503)
    expect(stopped.headers.get('Cache-Control')).toBe('no-store')
    const text = await stopped.text()
    expect(text).toContain('This app is stopped')
    expect(text).toContain('h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 }')
    expect(await textOf('http://busy.test/')).toContain('Down for maintenance')
  })
})

describe('an app', () => {
  test('that refuses connections gets a friendly page, and its own errors are passed on', async () => {
    edge.slots('dead', `127.0.0.1:${freePort()}`)
    edge.slots(
      'broken',
      edge.app(() => new Response('my own 502', { status: 502 })),
    )
    const host = (slots: string) => aHost(`${slots}.test`, { target: { slots } })
    await edge.serve([host('dead'), host('broken')])
    const dead = await edge.get('http://dead.test/')
    expect([dead.status, dead.headers.get('Retry-After')]).toEqual([502, '5'])
    expect(await dead.text()).toContain('doesn’t respond')
    expect(await textOf('http://broken.test/')).toBe('my own 502')
  })

  test('has a request tried on its other instances where one refuses it', async () => {
    edge.slots(
      'half',
      `127.0.0.1:${freePort()}`,
      edge.app(() => new Response('alive')),
    )
    await edge.serve([aHost('half.test', { target: { slots: 'half' } })])
    const post = { method: 'POST', body: 'x' }
    const asked = Array.from({ length: 40 }, (_, at) =>
      textOf('http://half.test/', at % 2 ? post : {}),
    )
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['alive']))
  })

  test('answers compressed to those who take that', async () => {
    edge.slots(
      'long',
      edge.app(() => new Response('long '.repeat(1000))),
    )
    await edge.serve([aHost('long.test', { target: { slots: 'long' } })])
    for (const encoding of ['gzip', 'zstd']) {
      const headers = { 'Accept-Encoding': encoding }
      const response = await edge.get('http://long.test/', { headers })
      expect(response.headers.get('Content-Encoding')).toBe(encoding)
      expect(await response.text()).toHaveLength(5000)
    }
  })
})

describe('an address with options', () => {
  test('asks for a login', async () => {
    const hash = await Bun.password.hash('sesame', { algorithm: 'bcrypt', cost: 4 })
    await edge.serve([aHost('app.test', { accounts: [{ username: 'a{b}', hash }] })])
    const refused = await edge.get('http://app.test/')
    expect([refused.status, refused.headers.get('WWW-Authenticate')]).toEqual([
      401,
      'Basic realm="restricted"',
    ])
    const logIn = (password: string) =>
      edge.get('http://app.test/', {
        headers: { Authorization: `Basic ${btoa(`a{b}:${password}`)}` },
      })
    expect((await logIn('sesame')).status).toBe(200)
    expect((await logIn('wrong')).status).toBe(401)
  })

  test('lets only its ranges in', async () => {
    await edge.serve([
      aHost('far.test', { allow: ['10.0.0.0/8', '2001:db8::/32'] }),
      aHost('near.test', { allow: ['127.0.0.0/8'] }),
    ])
    const headers = { 'X-Forwarded-For': '10.0.0.1' }
    expect((await edge.get('http://far.test/', { headers })).status).toBe(403)
    expect((await edge.get('http://near.test/')).status).toBe(200)
  })

  test('sets headers as they are written: no placeholder is read', async () => {
    const headers = {
      'X-Frame-Options': 'DENY',
      'X-Odd': '{file./etc/passwd} {env.HOME} \\{x} {"a":1}',
    }
    await edge.serve([aHost('app.test', { headers })])
    const response = await edge.get('http://app.test/')
    expect(response.headers.get('X-Frame-Options')).toBe('DENY')
    expect(response.headers.get('X-Odd')).toBe(headers['X-Odd'])
  })

  test('takes no more of a request than it says', async () => {
    await edge.serve([aHost('app.test', { maxBody: 10 })])
    const post = (body: string) => edge.get('http://app.test/', { method: 'POST', body })
    expect((await post('x'.repeat(10))).status).toBe(200)
    const refused = await post('x'.repeat(11))
    expect([refused.status, await refused.text()]).toEqual([
      413,
      'The request is larger than this address allows.\n',
    ])
  })
})

test('a host with a certificate of its own redirects to HTTPS, and is strict where that is chosen', async () => {
  const { cert: certificate, key } = gitExample
  const https = { kind: 'own', redirect: true, certificate, key } as const
  await edge.serve([aHost('git.example', {}, { https, hsts: true }), aHost('plain.test')])
  const redirected = await edge.get('http://git.example/a?b')
  expect([redirected.status, redirected.headers.get('Location')]).toEqual([
    308,
    `https://git.example:${edge.ports.https}/a?b`,
  ])
  const secure = await edge.get('https://git.example/a')
  expect(await secure.json()).toMatchObject({ 'x-forwarded-proto': 'https' })
  expect(secure.headers.get('Strict-Transport-Security')).toBe('max-age=31536000')
  const plain = await edge.get('http://plain.test/')
  expect([plain.status, plain.headers.get('Strict-Transport-Security')]).toEqual([200, null])
  await expect(edge.get('https://plain.test/')).rejects.toThrow()
})

test('HTTP/2 takes any text for a host, and none but its name leads to one', async () => {
  const { cert: certificate, key } = gitExample
  const https = { kind: 'own', redirect: false, certificate, key } as const
  const accounts = [
    { username: 'ada', hash: await Bun.password.hash('secret', { algorithm: 'bcrypt', cost: 4 }) },
  ]
  const target = { slots: 'other' }
  const sites = [
    { path: '/', target },
    { path: '/admin', target, accounts },
  ]
  await edge.serve([
    aHost('git.example', {}, { https }),
    aHost('login.test', { accounts }),
    aHost('ranges.test', { allow: ['203.0.113.0/24'] }),
    { name: 'prefix.test', https: { kind: 'off' }, sites },
  ])
  const session = connect(`https://127.0.0.1:${edge.ports.https}`, {
    ...{ servername: 'git.example', rejectUnauthorized: false },
  })
  const statusOf = async (host: string) => {
    const asked = session.request({ ':path': '/', ':authority': host })
    const [{ ':status': status }] = await once(asked, 'response')
    return status
  }
  expect(await statusOf('git.example')).toBe(200)
  expect(await statusOf('Login.test')).toBe(401)
  for (const host of ['login.test/', './login.test', 'x/../login.test', '/ranges.test'])
    expect([host, await statusOf(host)]).toEqual([host, 404])
  expect(await statusOf('prefix.test/admin')).toBe(404)
  session.destroy()
})

test('a stable port leads to its slots, whatever the host', async () => {
  const port = freePort()
  const listeners = [{ address: '127.0.0.1', port, slots: 'other' }]
  await edge.serve([aHost('app.test')], { listeners })
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('other')
})

test('what can’t be put in force is refused with Caddy’s reason, and what was before stays', async () => {
  await edge.serve([aHost('app.test')])
  const https = { kind: 'own', redirect: true, certificate: 'none', key: 'none' } as const
  await expect(edge.serve([aHost('app.test', {}, { https })])).rejects.toMatchObject({
    code: 'edge_refused',
    message: expect.stringMatching(/PEM/),
  })
  expect((await edge.get('http://app.test/')).status).toBe(200)
})

test('the admin API is on its socket alone, and needs Davit’s folder', async () => {
  await expect(fetch('http://127.0.0.1:2019/config/')).rejects.toThrow()
  expect(await edge.admin.read('id/nothing', { signal })).toBeNull()
})

test.if(process.getuid!() === 0)('a Davit that isn’t root has its files read, too', async () => {
  await edge.serve([aHost('app.test')])
  const made = ['slots', 'hosts', 'certificates', 'redirects'].map((name) =>
    join(edge.folder, name),
  )
  for (const owned of [[edge.folder], ['--recursive', ...made]])
    expect((await run(['chown', '12345', ...owned])).exitCode).toBe(0)
  expect((await edge.get('http://app.test/')).status).toBe(200)
  await edge.serve([aHost('app.test'), aHost('other.test', { target: { slots: 'other' } })])
  expect(await textOf('http://other.test/')).toBe('other')
})
