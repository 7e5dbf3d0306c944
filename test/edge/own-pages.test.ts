import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { installationIn } from '../../src/db/copy.ts'
import { pages } from '../../src/edge/pages.ts'
import { Shell } from '../containers/shell.ts'
import { startDavit } from '../support/davit.ts'
import { ensureEdgeImages } from '../support/machine.ts'
import { askEngine } from '../support/machine/engine.ts'
import { removeFromEngine } from '../support/remove-from-engine.ts'
import { until } from '../support/until.ts'
import { freePort } from '../support/free-port.ts'
import { signal } from './caddy.ts'

await ensureEdgeImages({ say: console.error })
const directory = mkdtempSync(join(tmpdir(), 'davit-'))
const ports = { http: freePort(), https: freePort() }
const pool = `10.${210 + (process.pid % 40)}`
const dataDir = join(directory, 'data')
const docker = connectDocker({ host: process.env.DOCKER_HOST })
const davit = await startDavit({
  directory,
  env: {
    DAVIT_DATA_DIR: dataDir,
    DAVIT_HOST: '0.0.0.0',
    DAVIT_DOMAIN: 'davit.test',
    DAVIT_EDGE: 'auto',
    DAVIT_EDGE_PORTS: `${ports.http},${ports.https}`,
    DAVIT_NETWORK_POOL: `${pool}.0.0/16`,
    DAVIT_TERMINAL: 'all',
    DAVIT_TRUSTED_PROXIES: '',
  },
})
const { id: instanceId } = installationIn(join(dataDir, 'davit.db'))!
const label = { 'test.own-pages': instanceId }
afterAll(async () => {
  await davit.stop()
  for (const name of ['davit.instance', 'test.own-pages'])
    await removeFromEngine(docker, [`${name}=${instanceId}`])
  rmSync(directory, { recursive: true })
})

const cookies = new Map<string, string>()

/** A request for a host of the edge, as a browser on this machine sends it. */
async function ask(
  path: string,
  { host = 'davit.test', ...init }: RequestInit & { host?: string } = {},
) {
  const headers = new Headers(init.headers)
  headers.set('Host', host)
  headers.set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
  const url = `http://127.0.0.1:${ports.http}${path}`
  const response = await fetch(url, { redirect: 'manual', keepalive: false, ...init, headers })
  for (const line of response.headers.getSetCookie()) {
    const [name, value] = line.split(';')[0]!.split('=') as [string, string]
    cookies.set(name, value)
  }
  return response
}

const asJson = { Accept: 'application/json' }

beforeAll(async () => {
  await until(async () => (await ask('/health').catch(() => null))?.status === 200)
  const out = await Bun.file(join(directory, 'davit.out')).text()
  const setupCode = /Setup code: (\S+)/.exec(out)![1]!
  await ask('/auth/register', { headers: { Accept: 'text/html' } })
  const body = new URLSearchParams({
    email: 'ada@example.com',
    password: 'correct horse battery',
    setup_code: setupCode,
    csrf_token: cookies.get('svc_csrf')!,
  })
  const origin = { Origin: 'http://davit.test', Accept: 'text/html' }
  const made = await ask('/auth/register', { method: 'POST', body, headers: origin })
  expect(made.status).toBe(303)
  expect(made.headers.get('Location')).toStartWith('/')
})

/** A container that isn't Davit's own. */
async function aContainer(network: string, gateway: string) {
  const id = await docker.createContainer({
    name: `test-${network}-${instanceId}`,
    image: 'busybox',
    entrypoint: ['sleep'],
    command: ['9999'],
    env: {},
    labels: label,
    network,
    memoryBytes: 64 * 2 ** 20,
    cpus: 1,
    pidsLimit: 64,
  })
  await docker.startContainer(id)
  return { id, gateway }
}

const subnet = `${pool}.255.0/26`
await docker.createNetwork({ name: `test-${instanceId}`, subnet, labels: label })
/** On a network of Davit's pool. */
const container = await aContainer(`test-${instanceId}`, `${pool}.255.1`)
/** Where builds run. */
const onBridge = await (async () => {
  const bridges = (await docker.listNetworks({ signal })).filter(({ name }) => name === 'bridge')
  const gateway = bridges[0]!.subnets[0]!.replace(/\.0\/\d+$/, '.1')
  return aContainer('bridge', gateway)
})()

/** Opened early: what Davit says to keep it open comes after 15 s. */
let quiet: Promise<Response>

/** A stream of output that nothing writes. */
async function openQuiet() {
  const firstOf = async (path: string) => {
    const list = (await (await ask(path, { headers: asJson })).json()) as {
      items: { id: string }[]
    }
    return list.items[0]!.id
  }
  const envs = `/projects/${await firstOf('/projects')}/envs`
  const headers = { Accept: 'text/event-stream' }
  return ask(`${envs}/${await firstOf(envs)}/output/stream`, { headers })
}

describe('Davit’s own pages, by the edge,', () => {
  test('are at DAVIT_DOMAIN, and other names of it lead nowhere', async () => {
    expect((await ask('/dashboard', { headers: { Accept: 'text/html' } })).status).toBe(200)
    const other = await ask('/dashboard', { host: 'other.davit.test' })
    expect(other.status).toBe(404)
    expect(await other.text()).toBe(`${pages.nobody.title}.\n`)
  })

  test('stay open for a browser in which an app set cookies for all names of DAVIT_DOMAIN', async () => {
    for (let n = 0; n < 15; n++) cookies.set(`planted_${n}`, 'x'.repeat(4000))
    const { status } = await ask('/dashboard', { headers: { Accept: 'text/html' } })
    for (let n = 0; n < 15; n++) cookies.delete(`planted_${n}`)
    expect(status).toBe(200)
  })

  test('know the client by what Caddy says, whatever the client says', async () => {
    const forged = { 'X-Forwarded-For': '203.0.113.9', 'X-Forwarded-Proto': 'https', ...asJson }
    const response = await ask('/login', { headers: forged })
    expect(response.headers.getSetCookie().join()).not.toContain('Secure')
    const sessions = await (await ask('/settings/sessions', { headers: asJson })).json()
    expect(sessions).toMatchObject({ items: [{ address: '127.0.0.1' }] })
  })

  test('refuse a form of another site, and take one of their own', async () => {
    const change = (origin: string) =>
      ask('/projects', {
        method: 'POST',
        body: JSON.stringify({ name: 'shop', repositoryUrl: 'https://git.example.com/a/b.git' }),
        headers: {
          ...asJson,
          'Content-Type': 'application/json',
          'X-CSRF-Token': cookies.get('svc_csrf')!,
          Origin: origin,
        },
      })
    expect((await change('http://evil.test')).status).toBe(403)
    expect((await change('http://davit.test')).status).toBe(201)
  })

  test('have streams of events', async () => {
    quiet = openQuiet()
    const over = new AbortController()
    const headers = { Accept: 'text/event-stream' }
    const stream = await ask(`/containers/${container.id}/stats`, { headers, signal: over.signal })
    expect(stream.headers.get('Content-Type')).toStartWith('text/event-stream')
    let text = ''
    for await (const chunk of stream.body!) if (/data:/.test((text += Buffer.from(chunk)))) break
    expect(text).toContain('data:')
    over.abort()
  })

  test('have terminals', async () => {
    const shell = new Shell(`ws://127.0.0.1:${ports.http}/containers/${container.id}/terminal`, {
      Host: 'davit.test',
      Origin: 'http://davit.test',
      Cookie: `svc_session=${cookies.get('svc_session')}`,
    })
    await shell.shows('#')
    shell.type('echo $((6 * 7))\n')
    await shell.shows('42')
    shell.close()
    await shell.ends()
  })
})

describe('from inside a container', () => {
  /** What a request from there gets. */
  async function asked(
    port: number,
    headers: string[] = [],
    { path = '/login', from = container } = {},
  ) {
    const request = [`GET ${path} HTTP/1.0`, ...headers, '', ''].join('\\r\\n')
    const script = `{ printf '${request}'; sleep 1; } | nc -w 5 ${from.gateway} ${port} 2>&1`
    const command = ['sh', '-c', script]
    return (await docker.runInContainer(from.id, { command, signal })).output
  }

  test('Davit’s port serves no one', async () => {
    const port = Number(new URL(davit.url).port)
    const forged = ['Host: davit.test', 'X-Forwarded-For: 127.0.0.1']
    const [byName, byNone] = await Promise.all([asked(port, forged), asked(port)])
    expect(byName).toStartWith('HTTP/1.1 403')
    expect(byNone).toStartWith('HTTP/1.1 421')
  })

  test('Caddy’s admin API can’t be reached', async () => {
    const path = '/config/'
    const hosts = ['localhost', '127.0.0.1', 'admin']
    const [own, ...byEdge] = await Promise.all([
      asked(2019, [], { path }),
      ...hosts.map((host) => asked(ports.http, [`Host: ${host}`], { path })),
    ])
    expect(own).toMatch(/refused|timed out/)
    for (const answer of byEdge) expect(answer).toContain('404')
  })

  test.each([
    ['of the pool', container],
    ['of the default bridge', onBridge],
  ])('the edge leads to none of Davit’s pages: %s', async (_, from) => {
    const forged = ['X-Forwarded-For: 203.0.113.9', 'X-Real-IP: 203.0.113.9']
    const asking = [
      [],
      forged,
      ['X-Forwarded-For: 127.0.0.1'],
      ['Connection: X-Forwarded-For'],
    ].flatMap((headers) =>
      ['davit.test', 'DAVIT.test.'].map((host) =>
        asked(ports.http, [`Host: ${host}`, ...headers], { from }),
      ),
    )
    for (const answer of await Promise.all(asking)) expect(answer).toStartWith('HTTP/1.0 403')
  })

  test('the edge has no host of no one', async () => {
    const path = '/davit/certificate?domain=davit.test'
    const answers = await Promise.all([
      asked(ports.http, ['Host: nobody.test']),
      asked(ports.http),
      asked(ports.http, ['Host: 127.0.0.1'], { path }),
    ])
    for (const answer of answers) expect(answer).toContain('404')
  })
})

test('a stream that is quiet stays open by the edge until Davit itself says that it lives', async () => {
  let beats = 0
  for await (const _ of (await quiet).body!) if (++beats === 2) break
  expect(beats).toBe(2)
}, 40_000)

test('a Caddy that is paused, killed or removed is back by itself', async () => {
  const edges = () =>
    docker.listContainers({
      labels: [`davit.instance=${instanceId}`, 'davit.kind=edge'],
      all: true,
    })
  const serves = async () =>
    (await ask('/health', { signal: AbortSignal.timeout(500) }).catch(() => null))?.status === 200
  for (const harm of ['pause', 'kill', 'remove'] as const) {
    const [edgeBefore] = await edges()
    const path = `/containers/${edgeBefore!.id}`
    await (harm === 'remove'
      ? askEngine(`${path}?force=1`, { method: 'DELETE' })
      : askEngine(`${path}/${harm}`, { method: 'POST' }))
    await until(serves)
  }
})
