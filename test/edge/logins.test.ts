import { expect, onTestFinished, test } from 'bun:test'
import { connect } from 'node:net'
import { until } from '../support/until.ts'
import { aHost, anEdge } from './caddy.ts'

const edge = await anEdge()
edge.slots(
  'app',
  edge.app(async (request) => {
    if (new URL(request.url).pathname !== '/endless') return new Response(await request.text())
    return new Response(endless() as unknown as ReadableStream)
  }),
)

async function* endless() {
  yield 'begun'
  await new Promise(() => {})
}

const accountOf = async (username: string, password: string) => ({
  username,
  hash: await Bun.password.hash(password, { algorithm: 'bcrypt', cost: 10 }),
})
const basic = (login: string) => ({ Authorization: `Basic ${btoa(login)}` })
const ada = { accounts: [await accountOf('ada', 'sesame')] }
const bob = { accounts: [await accountOf('bob', 'street')] }

/** Sends a request from another address of this machine, and resolves with the status. */
function statusFrom(localAddress: string, host: string, login: string | null) {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const socket = connect({ host: '127.0.0.1', port: edge.ports.http, localAddress } as never)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => resolve(null))
  socket.once('data', (data) => resolve(/^HTTP\/1.1 (\d+)/.exec(data.toString())?.[1] ?? null))
  const headers = login === null ? [] : [`Authorization: ${basic(login).Authorization}`]
  const head = ['GET / HTTP/1.1', `Host: ${host}`, ...headers, '', '']
  socket.write(head.join('\r\n'))
  return { answered: promise, leave: () => socket.destroy() }
}

test('guesses of one address keep no other request and no other login waiting', async () => {
  await edge.serve([aHost('app.test', ada), aHost('open.test'), aHost('other.test', bob)])
  let waiting = 200
  const guesses = Array.from({ length: waiting }, (_, n) =>
    statusFrom('127.0.0.2', 'app.test', `ada:guess ${n}`),
  )
  for (const { answered } of guesses) void answered.then(() => waiting--)
  await until(() => waiting < guesses.length)
  expect(await statusFrom('127.0.0.3', 'open.test', null).answered).toBe('200')
  expect(await statusFrom('127.0.0.4', 'other.test', 'bob:street').answered).toBe('200')
  expect(await statusFrom('127.0.0.5', 'app.test', 'ada:sesame').answered).toBe('200')
  expect(waiting).toBeGreaterThan(0)
  for (const { leave } of guesses) leave() // those that still wait are out of the queue
  const last = statusFrom('127.0.0.2', 'app.test', 'ada:sesame')
  expect(await last.answered).toBe('200')
})

test('a login is for its own site, and no header of a visitor names another', async () => {
  const target = { slots: 'app' }
  const sites = [
    { path: '/', target },
    { path: '/admin', target, ...ada },
    { path: '/{x}', target, ...bob },
  ]
  await edge.serve([aHost('bob.test', bob), { name: 'ada.test', https: { kind: 'off' }, sites }])
  const statusOf = async (address: string, login?: string, more = {}) => {
    const headers = { ...(login && basic(login)), ...more }
    return (await edge.get(address, { headers })).status
  }
  expect(await statusOf('http://ada.test/')).toBe(200)
  expect(await statusOf('http://ada.test/admin')).toBe(401)
  expect(await statusOf('http://ada.test/admin', 'ada:sesame')).toBe(200)
  expect(await statusOf('http://ada.test/admin', 'bob:street')).toBe(401)
  expect(await statusOf('http://ada.test/%7Bx%7D', 'bob:street')).toBe(200)
  expect(await statusOf('http://ada.test/%7Bx%7D', 'ada:sesame')).toBe(401)
  const claimed = { 'Davit-Site': 'ada.test/admin', davit_login: '' }
  expect(await statusOf('http://bob.test/', 'ada:sesame', claimed)).toBe(401)
  expect(await statusOf('http://bob.test/', undefined, claimed)).toBe(401)
  expect(await statusOf('http://bob.test/', undefined, { Authorization: 'Bearer x' })).toBe(401)
  expect(await statusOf('http://bob.test/', undefined, { Authorization: 'Basic' })).toBe(401)
})

test('a request that logged in reaches the app whole, and keeps no place meanwhile', async () => {
  await edge.serve([aHost('app.test', ada)])
  const headers = basic('ada:sesame')
  const endless = await edge.get('http://app.test/endless', { headers })
  onTestFinished(() => endless.body!.cancel())
  const body = 'x'.repeat(100_000)
  const posted = await edge.get('http://app.test/', { method: 'POST', headers, body })
  expect([posted.status, await posted.text()]).toEqual([200, body])
})

test('any name of a user is found in the base64 of a login', async () => {
  const names = ['a', 'ab', 'abc', 'Ünï', 'a+b/c', '{a}', '?>~', 'x'.repeat(100)]
  const { hash } = bob.accounts[0]!
  await edge.serve([aHost('app.test', { accounts: names.map((username) => ({ username, hash })) })])
  const logIn = (name: string, password: string, scheme = 'Basic') => {
    const login = Buffer.from(`${name}:${password}`).toString('base64')
    return edge.get('http://app.test/', { headers: { Authorization: `${scheme} ${login}` } })
  }
  for (const name of names)
    expect([name, (await logIn(name, 'street')).status]).toEqual([name, 200])
  expect((await logIn('a', 'street', 'bAsIc')).status).toBe(200)
  for (const name of ['', 'b', 'abcd', 'A', 'x'.repeat(99)])
    expect([name, (await logIn(name, 'street')).status]).toEqual([name, 401])
})
