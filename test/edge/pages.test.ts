import { connect } from 'node:net'
import { expect, test } from 'bun:test'
import { folderInside } from '../../src/edge/container.ts'
import { pageAddress } from '../../src/edge/plan.ts'
import { aHost, anEdge } from './caddy.ts'

const edge = await anEdge()

const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const ask = (Accept: string, init: RequestInit = {}) =>
  edge.get('http://app.test/', { ...init, headers: { Accept } })

const pages = [
  ['missing', 503, 'Nothing is deployed here yet', '15'],
  ['stopped', 503, 'This app is stopped', '60'],
  ['starting', 503, 'This app is starting', '3'],
  ['unhealthy', 503, 'This app isn’t available right now', '5'],
  ['maintenance', 503, 'Down for maintenance', '30'],
  ['nobody', 404, 'Nothing is served at this address', null],
] as const

test.each(pages)('%s is a page, a problem and a text, as the client asks', async (name, ...of) => {
  const [status, title, again] = of
  edge.slots('app', pageAddress(folderInside, name))
  await edge.serve([aHost('app.test')])
  const [page, problem, text] = [await ask(html), await ask('application/json'), await ask('*/*')]
  for (const answer of [page, problem, text]) {
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([status, again])
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    expect(answer.headers.get('Vary')).toContain('Accept')
  }
  expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
  const shown = await page.text()
  expect(shown).toContain(`<h1>${title}</h1>`)
  expect(shown.includes(`http-equiv="refresh" content="${again}"`)).toBe(again !== null)
  expect(shown.length).toBeLessThan(1200)
  expect(shown.toLowerCase()).not.toContain('davit')
  expect(problem.headers.get('Content-Type')).toBe('application/problem+json')
  expect(await problem.json()).toMatchObject({ type: 'about:blank', title, status })
  expect(await text.text()).toStartWith(`${title}.`)

  const head = await ask(html, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([status, ''])
  const sent = await ask(html, { method: 'POST', body: 'x'.repeat(100_000) })
  expect(sent.status).toBe(status)
})

test('an app that refuses connections has a page too', async () => {
  edge.slots('app', '127.0.0.1:1')
  await edge.serve([aHost('app.test')])
  const page = await ask(html)
  expect([page.status, page.headers.get('Retry-After')]).toEqual([502, '5'])
  expect(await page.text()).toContain('<h1>This app doesn’t respond</h1>')
  const problem = await ask('application/vnd.api+json')
  expect(await problem.json()).toMatchObject({ title: 'This app doesn’t respond', status: 502 })
})

test('what an app itself says of an error is passed on unchanged', async () => {
  const said = { 404: 'no such post', 502: 'my upstream is down', 503: 'we are full', 504: 'late' }
  const app = edge.app(({ url }) => {
    const status = Number(new URL(url).pathname.slice(1)) as keyof typeof said
    const headers = { 'Content-Type': 'text/x-own', 'Retry-After': '77', Server: 'own/1' }
    return new Response(said[status], { status, headers })
  })
  edge.slots('app', app)
  await edge.serve([aHost('app.test')])
  for (const [status, text] of Object.entries(said))
    for (const Accept of [html, 'application/json', '*/*']) {
      const answer = await edge.get(`http://app.test/${status}`, { headers: { Accept } })
      expect([answer.status, await answer.text()]).toEqual([Number(status), text])
      const own = ['Content-Type', 'Retry-After', 'Server'].map((name) => answer.headers.get(name))
      expect(own).toEqual(['text/x-own', '77', 'own/1'])
    }
})

test('an app that closes without a word is one that doesn’t respond', async () => {
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket) => void socket.end() },
  })
  edge.slots('app', `127.0.0.1:${server.port}`)
  await edge.serve([aHost('app.test')])
  const answer = await ask(html)
  server.stop(true)
  expect(answer.status).toBe(502)
  expect(await answer.text()).toContain('doesn’t respond')
})

test('a request without any Accept gets the text, over HTTP/1.0 too', async () => {
  edge.slots('app', pageAddress(folderInside, 'starting'))
  await edge.serve([aHost('app.test')])
  const answer = await new Promise<string>((resolve, reject) => {
    let text = ''
    const socket = connect(edge.ports.http, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.0\r\nHost: app.test\r\n\r\n'),
    )
    socket.on('data', (data) => (text += data))
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
  })
  expect(answer).toStartWith('HTTP/1.0 503 ')
  expect(answer).toEndWith('This app is starting. It will be here in a moment.\n')
})
