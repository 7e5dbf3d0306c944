import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inCidrs, refusedHost, refuseListEntry, resolveHost } from '../../src/platform/hosts.ts'

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
    (host) => expect(refusedHost(host, ['0.0.0.0/0'])).toContain('a valid host name'),
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

describe('an address of a special block of IANA is refused:', () => {
  test.each([
    ['this network', '0.0.0.0', '0.255.255.255'],
    ['private use', '10.0.0.0', '10.255.255.255'],
    ['private use', '172.16.0.0', '172.31.255.255'],
    ['private use', '192.168.0.0', '192.168.255.255'],
    ['shared space of carriers', '100.64.0.0', '100.127.255.255'],
    ['loopback', '127.0.0.0', '127.255.255.255'],
    ['link-local', '169.254.0.0', '169.254.255.255'],
    ['protocol assignments', '192.0.0.0', '192.0.0.255'],
    ['documentation', '192.0.2.0', '192.0.2.255'],
    ['documentation', '198.51.100.0', '198.51.100.255'],
    ['documentation', '203.0.113.0', '203.0.113.255'],
    ['relays of 6to4', '192.88.99.0', '192.88.99.255'],
    ['benchmarks', '198.18.0.0', '198.19.255.255'],
    ['multicast', '224.0.0.0', '239.255.255.255'],
    ['reserved, broadcast', '240.0.0.0', '255.255.255.255'],
    ['unspecified, loopback', '::', '::1'],
    ['IPv4-compatible', '::8.8.8.8', '::255.255.255.255'],
    ['IPv4-mapped private', '::ffff:10.0.0.0', '::ffff:192.168.255.255'],
    ['IPv4-translated', '::ffff:0:8.8.8.8', '::ffff:0:7f00:1'],
    ['NAT64 to a private address', '64:ff9b::10.0.0.1', '64:ff9b::c0a8:101'],
    ['NAT64 to this network', '64:ff9b::', '64:ff9b::1'],
    ['NAT64 of one network', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
    ['NAT64 of one network, of a public address', '64:ff9b:1::808:808', '64:ff9b:1:abcd::808:808'],
    ['discard-only', '100::', '100::ffff:ffff:ffff:ffff'],
    ['dummy prefix', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
    ['Teredo', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['protocol assignments, benchmarks, ORCHID', '2001:2::1', '2001:1ff:ffff::1'],
    ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['6to4', '2002::', '2002:808:808::1'],
    ['not given out', '4000::', '5eff::1'],
    ['segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['link-local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ])('%s (%s to %s)', (_, first, last) => {
    for (const address of [first, last])
      expect([address, refusedHost(address, [])]).toEqual([
        address,
        expect.stringContaining('DAVIT_ALLOW_HOSTS'),
      ])
  })

  test.each([
    ...['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
    ...['128.0.0.0', '172.15.255.255', '192.0.1.0', '192.88.98.255', '198.17.255.255'],
    ...['198.20.0.0', '223.255.255.255', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2000::1'],
    ...['2001:200::1', '2001:db7::1', '2003::1', '2a00:1450::1', '3ffe::1', '3fff:1000::1'],
  ])('but not %s, which is public', (address) => {
    expect(refusedHost(address, [])).toBeNull()
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

  test('that do not exist are explained', async () => {
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

test('names whose server is silent keep no one else waiting', async () => {
  // in a mount namespace of its own, whose one name server never responds
  const silent = await Bun.udpSocket({ hostname: '127.0.0.53', port: 53, socket: { data() {} } })
  const dir = mkdtempSync(join(tmpdir(), 'davit-resolver-'))
  const [resolver, script] = [join(dir, 'resolv.conf'), join(dir, 'ask.ts')]
  writeFileSync(resolver, 'nameserver 127.0.0.53\n')
  writeFileSync(
    script,
    `import { readFile } from 'node:fs/promises'
     import { resolveHost } from ${JSON.stringify(join(import.meta.dir, '../../src/platform/hosts.ts'))}
     const options = { allow: [], signal: AbortSignal.timeout(8_000) }
     const asked = Array.from({ length: 50 }, (_, at) => resolveHost(\`x\${at}.example.com\`, options))
     Promise.allSettled(asked).then(() => console.log('over'))
     await Bun.sleep(100)
     await readFile(import.meta.path)
     console.log('read')
     process.exit()`,
  )
  const command = 'mount --bind "$0" /etc/resolv.conf && exec "$1" "$2"'
  const child = Bun.spawn(
    ['unshare', '-m', 'sh', '-c', command, resolver, process.execPath, script],
    { stderr: 'inherit' },
  )
  try {
    expect(await new Response(child.stdout).text()).toBe('read\n')
  } finally {
    silent.close()
    rmSync(dir, { recursive: true })
  }
})
