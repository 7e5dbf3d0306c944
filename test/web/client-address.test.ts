import { describe, expect, test } from 'bun:test'
import { clientAddress, networkOf } from '../../src/web/client-address.ts'
import { factory } from '../../src/web/factory.ts'

async function addressSeen(peer: string, forwarded?: string, trusted: string[] = []) {
  const app = factory
    .createApp()
    .use(clientAddress(trusted))
    .get('/', (c) => c.text(c.var.address))
  const headers = forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded }
  const server = { requestIP: () => ({ address: peer }) }
  return (await app.request('/', { headers }, { server })).text()
}

describe('the address of a client', () => {
  const proxies = ['127.0.0.1', '10.0.0.0/8', 'fd00::/8']
  const cases: [string, string | undefined, string[], string][] = [
    // no proxy is trusted unless the operator says so
    ['198.51.100.7', undefined, [], '198.51.100.7'],
    ['198.51.100.7', '203.0.113.1', [], '198.51.100.7'],
    ['127.0.0.1', '203.0.113.1', [], '127.0.0.1'],
    ['198.51.100.7', '203.0.113.1', proxies, '198.51.100.7'],
    // of trusted ones the nearest hop that is none of them
    ['127.0.0.1', '203.0.113.1', proxies, '203.0.113.1'],
    ['::ffff:127.0.0.1', '203.0.113.1', proxies, '203.0.113.1'],
    ['127.0.0.1', '1.1.1.1, 203.0.113.1', proxies, '203.0.113.1'],
    ['127.0.0.1', '1.1.1.1, 203.0.113.1, 10.1.2.3', proxies, '203.0.113.1'],
    ['fd00::5', '2001:DB8:0:0::1', proxies, '2001:db8::1'],
    ['127.0.0.1', '10.0.0.9', proxies, '10.0.0.9'],
    ['127.0.0.1', '10.0.0.8, 10.0.0.9', proxies, '10.0.0.8'],
    // what is no address ends the chain
    ['127.0.0.1', undefined, proxies, '127.0.0.1'],
    ['127.0.0.1', '', proxies, '127.0.0.1'],
    ['127.0.0.1', 'unknown', proxies, '127.0.0.1'],
    ['127.0.0.1', '203.0.113.1, <script>', proxies, '127.0.0.1'],
    ['127.0.0.1', '203.0.113.1, , 10.0.0.9', proxies, '10.0.0.9'],
    ['127.0.0.1', `${'9'.repeat(5000)}`, proxies, '127.0.0.1'],
    // a zone is no part of it
    ['fe80::1%eth0', '203.0.113.1', proxies, 'fe80::1'],
  ]
  test.each(cases)(
    '%s, forwarded for %p, trusting %p: %s',
    async (peer, forwarded, trusted, seen) =>
      expect(await addressSeen(peer, forwarded, trusted)).toBe(seen),
  )
})

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::', 'fe80:0:0:0::/64'],
])('%s is of the network %s', (address, network) => expect(networkOf(address)).toBe(network))
