import { expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'

const statusOf = async ({ app }: TestApp, headers: object, env: object) =>
  (await app.request('/login', { headers: { Accept: 'application/json', ...headers } }, env)).status

const statusFrom = (t: TestApp, address: string, headers: object = {}) =>
  statusOf(t, headers, { server: { requestIP: () => ({ address }) } })

/** With an engine whose default bridge has that subnet. */
function withBridge(subnets: string[], env: Record<string, string> = {}) {
  const t = testApp(env)
  const network = { id: 'b', driver: 'bridge', labels: {}, isEncrypted: false }
  t.faults.listNetworks = async () => [
    { ...network, name: 'bridge', subnets },
    { ...network, name: 'someone-elses', subnets: ['198.18.0.0/16'] },
  ]
  return t
}

test.each([
  ['of the network pool', '10.201.3.9'],
  ['of the network pool, as IPv6', '::ffff:10.201.3.9'],
  ['of the default bridge', '172.30.0.4'],
  ['of the default bridge, by IPv6', 'fd00:d0c::2'],
])('a request from a container %s is refused', async (_, address) => {
  const t = withBridge(['172.30.0.0/16', 'fd00:d0c::/64'])
  expect(await statusFrom(t, address)).toBe(403)
  expect(await statusFrom(t, address, { 'X-Forwarded-For': '203.0.113.9' })).toBe(403)
  // by the edge, by a proxy of this machine, and by one that is trusted
  const behind = { 'X-Forwarded-For': `203.0.113.9, ${address}` }
  expect(await statusOf(t, behind, { isEdges: true })).toBe(403)
  expect(await statusFrom(t, '127.0.0.1', behind)).toBe(403)
  const trusting = withBridge(['172.30.0.0/16', 'fd00:d0c::/64'], {
    DAVIT_TRUSTED_PROXIES: '127.0.0.1 198.51.100.7',
  })
  for (const proxy of ['127.0.0.1', '198.51.100.7'])
    expect(await statusFrom(trusting, proxy, behind)).toBe(403)
})

test('by the edge the hop that Caddy writes counts, whatever is written before it', async () => {
  const t = withBridge(['172.30.0.0/16'])
  const forged = { 'X-Forwarded-For': '10.201.0.9, 203.0.113.9' }
  expect(await statusOf(t, forged, { isEdges: true })).not.toBe(403)
  expect(await statusFrom(t, '198.51.100.7', { 'X-Forwarded-For': '10.201.0.9' })).not.toBe(403)
})

test.each(['127.0.0.1', '::1', '192.168.1.9', '203.0.113.9', '198.18.0.2', '172.31.0.4'])(
  'one from %p is answered',
  async (address) => {
    expect(await statusFrom(withBridge(['172.30.0.0/16']), address)).not.toBe(403)
  },
)

test('a trusted proxy may be a container, and so the way in for others', async () => {
  const t = withBridge(['172.30.0.0/16'], { DAVIT_TRUSTED_PROXIES: '172.30.0.2' })
  expect(await statusFrom(t, '172.30.0.2', { 'X-Forwarded-For': '203.0.113.9' })).not.toBe(403)
  expect(await statusFrom(t, '172.30.0.3', { 'X-Forwarded-For': '203.0.113.9' })).toBe(403)
})

test('this machine itself is no container, by whichever of its addresses', async () => {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const outward = own.find(({ internal, family }) => !internal && family === 'IPv4')!
  const t = withBridge([outward.cidr!])
  expect(await statusFrom(t, outward.address)).not.toBe(403)
})

test('an engine that is away keeps no one out, and is not asked by each request', async () => {
  const t = testApp()
  let asked = 0
  t.faults.listNetworks = async () => {
    asked++
    throw new Error('no engine')
  }
  for (let i = 0; i < 5; i++) expect(await statusFrom(t, '172.30.0.4')).not.toBe(403)
  expect(asked).toBe(1)
  expect(await statusFrom(t, '10.201.0.9')).toBe(403)
})

test('a git server in a container delivers: what it sends is signed', async () => {
  const t = withBridge([])
  const server = { requestIP: () => ({ address: '10.201.0.9' }) }
  const headers = { 'Content-Type': 'application/json' }
  const init = { method: 'POST', body: '{}', headers }
  const answer = await t.app.request('/webhooks/gitea', init, { server })
  expect([400, 401]).toContain(answer.status)
})
