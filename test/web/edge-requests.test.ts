import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { clientAddress } from '../../src/web/client-address.ts'
import { factory } from '../../src/web/factory.ts'

/** As a request comes to Davit on the edge's socket. */
const byEdge = { isEdges: true }

test('a request by the edge is from whom the edge says, by HTTPS where it says so', async () => {
  const app = factory
    .createApp()
    .use(clientAddress(['10.0.0.0/8']))
    .get('/', ({ var: { address, peer, isHttps }, json }) => json({ address, peer, isHttps }))
  const seen = async (headers: Record<string, string>, env: object) =>
    (await app.request('/', { headers }, env)).json()
  const forwarded = { 'X-Forwarded-For': '203.0.113.9', 'X-Forwarded-Proto': 'https' }
  const [edge, visitor] = ['127.0.0.1', '203.0.113.9']
  expect(await seen(forwarded, byEdge)).toEqual({ address: visitor, peer: visitor, isHttps: true })
  expect(await seen({}, byEdge)).toEqual({ address: edge, peer: edge, isHttps: false })
  const server = { requestIP: () => ({ address: '198.51.100.7' }) }
  expect(await seen(forwarded, { server })).toEqual({
    address: '198.51.100.7',
    peer: '198.51.100.7',
    isHttps: false,
  })
})

test('cookies and links follow the scheme of the edge, without DAVIT_URL', async () => {
  const t = testApp({ DAVIT_DOMAIN: 'davit.test' })
  const ask = (headers: object, env: object) =>
    t.app.request('http://davit.test/login', { headers: { Accept: 'text/html', ...headers } }, env)
  const https = { 'X-Forwarded-Proto': 'https' }
  const cookiesOf = (response: Response) => response.headers.getSetCookie()
  for (const line of cookiesOf(await ask(https, byEdge))) expect(line).toContain('; Secure')
  expect(cookiesOf(await ask(https, byEdge)).join()).toContain('__Host-svc_visitor=')
  for (const [headers, env] of [[https, {}] as const, [{}, byEdge] as const])
    expect(cookiesOf(await ask(headers, env)).join()).not.toContain('Secure')
})

test('a form by the edge comes from the name that it was asked by, whatever DAVIT_URL is', async () => {
  const t = testApp({ DAVIT_DOMAIN: 'davit.test', DAVIT_URL: 'http://192.168.1.7:3000' })
  const send = async (Origin: string, env: object) => {
    const Host = 'davit.test'
    const init = { method: 'POST', headers: { Host, Origin, Accept: 'application/json' } }
    return (await (await t.app.request('http://davit.test/auth/login', init, env)).json()) as {
      detail: string
    }
  }
  const foreign = 'This form was sent from another site. Open it here again.'
  expect((await send('https://davit.test', byEdge)).detail).not.toBe(foreign)
  expect((await send('https://evil.test', byEdge)).detail).toBe(foreign)
  expect((await send('https://davit.test', {})).detail).toBe(foreign)
})
