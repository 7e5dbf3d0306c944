import { expect, test } from 'bun:test'
import { explain } from '../../src/domains/certificate-explain.ts'

const about = { host: 'app.example.com', authority: 'Let’s Encrypt', expected: ['203.0.113.5'] }
const path = 'http://app.example.com/.well-known/acme-challenge/x'
const say = (type: string | null, detail: string) => explain({ type, detail }, about)

test.each([
  [
    ['unauthorized', `203.0.113.7: Invalid response from ${path}: 404`],
    'Let’s Encrypt got 404 from 203.0.113.7: the name points to another server.',
    'Check the records of app.example.com',
  ],
  [
    ['unauthorized', `203.0.113.5: Invalid response from ${path}: 403`],
    'Let’s Encrypt got 403 from 203.0.113.5: another program responds on port 80 here.',
    'must pass on requests for /.well-known/acme-challenge/',
  ],
  [
    ['unauthorized', 'The key authorization file from the server did not match this challenge.'],
    'Let’s Encrypt got an unexpected response from app.example.com',
    'Check the records',
  ],
  [
    [
      'connection',
      `203.0.113.5: Fetching ${path}: Timeout during connect (likely firewall problem)`,
    ],
    'Let’s Encrypt couldn’t connect to 203.0.113.5 on port 80: the connection timed out.',
    'Port 80 must be open',
  ],
  [
    [
      'connection',
      `During secondary validation: 2606:4700::7: Fetching ${path}: Connection refused`,
    ],
    'Let’s Encrypt couldn’t connect to 2606:4700::7 on port 80: the connection was refused.',
    '2606:4700::7 isn’t this server',
  ],
  [
    [
      'dns',
      'DNS problem: NXDOMAIN looking up A for app.example.com - check that a DNS record exists',
    ],
    'Let’s Encrypt found no address of app.example.com in the DNS.',
    'Davit tries again',
  ],
  [
    ['dns', 'DNS problem: SERVFAIL looking up CAA for example.com'],
    'Let’s Encrypt couldn’t look up the CAA records',
    'name servers must respond to CAA queries',
  ],
  [
    ['caa', 'CAA record for example.com prevents issuance'],
    'A CAA record in the DNS doesn’t allow Let’s Encrypt',
    'Add Let’s Encrypt to the CAA records',
  ],
  [
    [
      'rejectedIdentifier',
      'Cannot issue for "app.test": Domain name does not end with a public suffix',
    ],
    'Let’s Encrypt doesn’t issue certificates for app.example.com',
    'upload your own certificate',
  ],
  [
    [
      null,
      'provisioning client: performing request: Get "https://x/dir": dial tcp 1.2.3.4:443: connect: connection refused',
    ],
    'Let’s Encrypt can’t be reached: dial tcp 1.2.3.4:443: connect: connection refused',
    'DAVIT_ACME_URL',
  ],
  [
    [
      null,
      'registering account: performing request: Get "https://x/dir": tls: failed: x509: certificate signed by unknown authority',
    ],
    'Let’s Encrypt can’t be reached: ',
    'DAVIT_ACME_CA',
  ],
  [
    ['serverInternal', 'Something\u001b[31m broke'],
    'issued no certificate for app.example.com: Something [31m broke',
    '',
  ],
  [[null, ''], 'Let’s Encrypt issued no certificate for app.example.com: no reason given', ''],
] as const)('%p is explained', ([type, detail], message, hint) => {
  const explained = say(type, detail)
  expect(explained.message).toContain(message)
  expect(explained.hint).toContain(hint)
})

test('a limit says until when', () => {
  const { message, notBefore } = say(
    'rateLimited',
    'too many failed authorizations (5) for "app.example.com" in the last 1h0m0s, retry after 2026-11-22 23:10:47 UTC: see https://letsencrypt.org/docs/rate-limits/',
  )
  expect(message).toContain('its rate limit is reached: too many failed authorizations (5)')
  expect(notBefore?.toISOString()).toBe('2026-11-22T23:10:47.000Z')
  const unknown = say('rateLimited', 'try later').notBefore!.getTime() - Date.now()
  expect(Math.round(unknown / 60_000)).toBe(60)
})

test('text of others is cut and in one line', () => {
  const { message } = say('serverInternal', `a\r\n\u202e${'b'.repeat(100_000)}`)
  expect(message.length).toBeLessThan(400)
  expect(message).not.toMatch(/[\n\r\u202e]/)
})
