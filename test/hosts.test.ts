import { describe, expect, test } from 'bun:test'
import { inCidrs, refusedHost, refuseListEntry, resolveHost } from '../src/hosts.ts'

const privateHosts = [
  ...['127.0.0.1', 'localhost', 'LOCALHOST', 'app.localhost', '0', '127.1', '2130706433'],
  ...['0x7f000001', '0177.0.0.1', '[::1]', '::1', '::', '[::ffff:127.0.0.1]', '::ffff:10.0.0.1'],
  ...['169.254.169.254', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1'],
  ...['fc00::1', 'fd00:ec2::254', 'fe80::1', '64:ff9b::7f00:1', 'ff02::1', '224.0.0.1'],
  ...['255.255.255.255', '0.0.0.0', 'metadata.google.internal', 'metadata.google.internal.'],
  ...['127.0.0.1.', 'localhost.', '168.63.129.16', '2002:7f00:1::', '::127.0.0.1'],
]
const signal = new AbortController().signal

describe('a host as it is written', () => {
  test.each(privateHosts)('%s is refused, and the setting that admits it is named', (host) => {
    expect(refusedHost(host, [])).toContain('DAVIT_ALLOW_HOSTS')
  })

  test.each(['example.com', '8.8.8.8', '172.32.0.1', '2606:4700::1111', 'localhost.example.com'])(
    '%s is fine',
    (host) => expect(refusedHost(host, [])).toBeNull(),
  )

  test.each(['', '-oProxyCommand=x', 'a b', 'a/b', 'a@b', 'a:80', 'ho%20st', 'a;b', 'a\0b'])(
    '“%s” is not a host',
    (host) => expect(refusedHost(host, ['0.0.0.0/0'])).toContain('not the name of a host'),
  )

  test('the list admits names, addresses and CIDRs, and only those', () => {
    const allow = ['git.lan', 'localhost', '10.1.0.0/16', '192.168.1.7', 'fd00::/8']
    for (const host of ['localhost', 'LocalHost.', '10.1.2.3', '192.168.1.7', '[fd00::5]']) {
      expect(refusedHost(host, allow)).toBeNull()
    }
    for (const host of ['10.2.0.1', '192.168.1.8', '127.0.0.1', 'x.localhost', '::1']) {
      expect(refusedHost(host, allow)).not.toBeNull()
    }
  })
})

describe('the addresses of a name', () => {
  const answers = (...addresses: string[]) => ({ lookup: async () => addresses, signal })

  test('are those to connect to', async () => {
    const found = await resolveHost('git.example.com', {
      allow: [],
      ...answers('8.8.8.8', '1.1.1.1'),
    })
    expect(found).toEqual(['8.8.8.8', '1.1.1.1'])
  })

  test('are refused when a single one of them is private', async () => {
    const refused = resolveHost('evil.example.com', {
      allow: [],
      ...answers('8.8.8.8', '127.0.0.1'),
    })
    expect(await refused.catch((error) => error)).toMatchObject({ code: 'host_refused' })
  })

  test('are admitted with the name, or when each of them is', async () => {
    expect(await resolveHost('git.lan', { allow: ['git.lan'], ...answers('10.0.0.9') })).toEqual([
      '10.0.0.9',
    ])
    const ranges = { allow: ['10.0.0.0/8'], ...answers('10.0.0.9') }
    expect(await resolveHost('git.lan', ranges)).toEqual(['10.0.0.9'])
  })

  test('that do not exist end in words', async () => {
    const unknown = resolveHost('nowhere.invalid', { allow: [], signal })
    expect(await unknown.catch((error) => error)).toMatchObject({
      code: 'host_unresolved',
      message: expect.stringContaining('nowhere.invalid'),
    })
  })

  test('are not waited for after an abort', async () => {
    const aborted = resolveHost('slow.example.com', {
      allow: [],
      signal: AbortSignal.abort('enough'),
      lookup: () => new Promise(() => {}),
    })
    expect(await aborted.catch((error) => error)).toBe('enough')
  })
})

test('an address is found in CIDRs, in its IPv4-mapped form too', () => {
  expect(inCidrs('10.1.2.3', ['10.0.0.0/8'])).toBe(true)
  expect(inCidrs('::ffff:10.1.2.3', ['10.0.0.0/8'])).toBe(true)
  expect(inCidrs('::1', ['127.0.0.1', '::1'])).toBe(true)
  expect(inCidrs('11.0.0.1', ['10.0.0.0/8', 'proxy.lan'])).toBe(false)
  expect(inCidrs('not an address', ['0.0.0.0/0'])).toBe(false)
})

test('an entry of a list is a name, an address or a CIDR', () => {
  for (const entry of ['git.lan', '10.0.0.1', '10.0.0.0/8', 'fd00::/8', '[::1]', '::1']) {
    expect(refuseListEntry(entry)).toBeNull()
  }
  for (const entry of ['10.0.0.0/33', 'git.lan/8', 'http://git.lan', 'a b', '', 'fd00::/129']) {
    expect(refuseListEntry(entry)).toContain('10.0.0.0/8')
  }
})
