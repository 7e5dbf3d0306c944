import { expect, onTestFinished, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { accessFile, readAccessLine } from '../../src/edge/access-log.ts'
import { folderInside } from '../../src/edge/container.ts'
import { shareKey } from '../../src/edge/plan.ts'
import { routeAll, routeShare } from '../../src/edge/shares.ts'
import { until } from '../support/until.ts'
import { aHost, anEdge } from './caddy.ts'

const edge = await anEdge()

const before = edge.app(() => new Response('before'))

/** Has Caddy send a share of the requests for a host to an app. */
async function share(slot: number, percent: number, isSticky: boolean, address: string) {
  const versions = { new: [address] as [string], before: [before] as [string] }
  routeShare(edge.folder, 'app', { share: { slot, percent, isSticky }, versions, folderInside })
  await edge.serve([aHost('app.test')])
}

async function countOf(count: number, init: RequestInit = {}) {
  const seen = { new: 0, before: 0 }
  const visit = async () => {
    const response = await edge.get('http://app.test/', { keepalive: true, ...init })
    const text = await response.text()
    if (text !== 'new' && text !== 'before') throw new Error(`${response.status} ${text}`)
    seen[text]++
  }
  for (let at = 0; at < count; at += 20) await Promise.all(Array.from({ length: 20 }, visit))
  return seen
}

const isNew = () => edge.app(() => new Response('new'))

// six standard deviations of so many draws
for (const [percent, least, most] of [
  [1, 0, 29],
  [10, 43, 157],
  [50, 405, 595],
] as const)
  test(`of 1,000 requests ${percent} % reach the new version`, async () => {
    await share(3, percent, false, isNew())
    const { new: count } = await countOf(1000)
    expect(count).toBeGreaterThanOrEqual(least)
    expect(count).toBeLessThanOrEqual(most)
  })

test('each number below the percentage reaches the new version, and no other does', async () => {
  await share(4, 10, true, isNew())
  const numbers = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))
  const reached = []
  for (const number of numbers) {
    const headers = { Cookie: `a=1; davit_share=${number}; b=2` }
    const response = await edge.get('http://app.test/', { headers })
    if ((await response.text()) === 'new') reached.push(number)
    expect(response.headers.get('Set-Cookie')).toBeNull()
  }
  expect(reached).toEqual(numbers.slice(0, 10))
})

test('a visitor stays with a version by a cookie, beside the app’s own, and only where it is chosen', async () => {
  const app = edge.app(() => new Response('new', { headers: { 'Set-Cookie': 'own=1' } }))
  await share(5, 50, true, app)
  for (let n = 0; n < 20; n++) {
    const first = await edge.get('http://app.test/')
    const cookies = first.headers.getSetCookie()
    const [given] = cookies.filter((one) => one.startsWith('davit_share='))
    expect(given).toMatch(/^davit_share=\d\d; Path=\/; Max-Age=86400; HttpOnly; SameSite=Lax$/)
    const text = await first.text()
    expect(cookies).toHaveLength(text === 'new' ? 2 : 1)
    const seen = await countOf(20, { headers: { Cookie: given!.split(';')[0]! } })
    expect(seen[text as 'new']).toBe(20)
  }
  await share(5, 50, false, isNew())
  expect((await edge.get('http://app.test/')).headers.get('Set-Cookie')).toBeNull()
})

test('a cookie that isn’t a number of two digits is no choice', async () => {
  await share(6, 50, true, isNew())
  for (const value of ['', '7', '100', 'new', '../../pages', '00/x', '{file./etc/passwd}']) {
    const response = await edge.get('http://app.test/', {
      headers: { Cookie: `davit_share=${value}` },
    })
    expect(response.status).toBe(200)
    await response.text()
    if (value !== '00/x') expect(response.headers.get('Set-Cookie')).toMatch(/^davit_share=\d\d;/)
  }
})

test('a share may have as many per cent as the number of its socket', async () => {
  await share(5, 5, false, isNew())
  await share(5, 10, false, isNew())
  await share(10, 5, false, isNew())
  expect((await countOf(20)).before).toBeGreaterThan(0)
})

test('an app sees the visitor as it does without a share', async () => {
  const echo = edge.app((request) => Response.json([request.url, ...request.headers]))
  const headers = { 'X-Forwarded-For': '203.0.113.9', 'X-Real-Ip': '203.0.113.9', 'X-Own': 'yes' }
  edge.slots('app', echo)
  await edge.serve([aHost('app.test')])
  const ask = async () =>
    (await (await edge.get('http://app.test/a?b=c', { headers })).json()) as string[]
  const direct = await ask()
  await share(7, 50, false, echo)
  edge.slots(shareKey(7, 'before'), echo)
  expect((await ask()).toSorted()).toEqual(direct.toSorted())
})

test('a body arrives, and a version that refuses connections is the page', async () => {
  const app = edge.app(async (request) => new Response(await request.text()))
  await share(8, 50, false, app)
  edge.slots(shareKey(8, 'before'), app)
  const body = 'x'.repeat(3_000_000)
  const response = await edge.get('http://app.test/', { method: 'POST', body })
  expect((await response.text()).length).toBe(body.length)
  edge.slots(shareKey(8, 'before'), '127.0.0.1:1')
  edge.slots(shareKey(8, 'new'), '127.0.0.1:1')
  const none = await edge.get('http://app.test/')
  expect(none.status).toBe(502)
  expect(await none.text()).toContain('doesn’t respond')
})

test('the log says which version served a request, once beside the line of the host', async () => {
  await share(9, 50, false, isNew())
  const { new: count } = await countOf(100)
  const lines = () =>
    readFileSync(accessFile(edge.folder), 'utf8')
      .split('\n')
      .flatMap((line) => readAccessLine(line) ?? [])
      .filter(({ share }) => share?.slot === 9)
  await until(() => lines().length === 100)
  expect(lines().filter(({ share }) => share?.version === 'new')).toHaveLength(count)
  expect(lines()[0]).toMatchObject({ host: 'app.test', path: '/', status: 200, method: 'GET' })
})

test('WebSockets through a share outlive its end, with their version', async () => {
  const sockets = ['new', 'before'].map((name) => {
    const server = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 0 },
      websocket: { message: (socket, text) => void socket.send(`${name}: ${String(text)}`) },
      fetch: (request, server) => (server.upgrade(request) ? undefined : new Response(name)),
    })
    onTestFinished(() => server.stop(true))
    return `127.0.0.1:${server.port}`
  })
  const versions = { new: [sockets[0]!] as [string], before: [sockets[1]!] as [string] }
  const of = { slot: 10, percent: 50, isSticky: true }
  routeShare(edge.folder, 'app', { share: of, versions, folderInside })
  await edge.serve([aHost('app.test')])
  const open = async (number: string) => {
    const headers = { Host: 'app.test', Cookie: `davit_share=${number}` }
    const socket = new WebSocket(`ws://127.0.0.1:${edge.ports.http}/`, { headers } as never)
    onTestFinished(() => socket.close())
    await new Promise((resolve, reject) => {
      socket.onopen = resolve
      socket.onerror = reject
    })
    return (text: string) =>
      new Promise((resolve) => {
        socket.onmessage = ({ data }) => resolve(data)
        socket.onclose = () => resolve('closed')
        socket.send(text)
      })
  }
  const [isNew, isBefore] = [await open('00'), await open('99')]
  const both = async (text: string) => [await isNew(text), await isBefore(text)]
  expect(await both('a')).toEqual(['new: a', 'before: a'])
  routeAll(edge.folder, 'app', versions.before) // taken back
  expect(await both('b')).toEqual(['new: b', 'before: b'])
  const later = await open('00')
  expect(await later('c')).toBe('before: c')
  await edge.serve([aHost('app.test'), aHost('b.test')])
  expect(await both('d')).toEqual(['new: d', 'before: d'])
})
