import { expect, test } from 'bun:test'
import {
  describeCertificate,
  describeOwn,
  readOwnCertificate,
} from '../../src/domains/certificate-own.ts'
import { AppError } from '../../src/platform/errors.ts'
import { anIssuer } from './issuer.ts'
import type { Signed } from './issuer.ts'

const { issue, openssl } = anIssuer()
const day = 86_400_000
const root = await issue({ names: [], subject: '/O=Example Trust/CN=Root', isAuthority: true })
const middle = await issue({
  names: [],
  subject: '/O=Example Trust/CN=R1',
  by: root,
  isAuthority: true,
})
const good = await issue({ names: ['app.test', '*.apps.test'], by: middle })

const read = ({ certificate, key }: Pick<Signed, 'certificate' | 'key'>, host = 'app.test') =>
  readOwnCertificate({ certificate, key }, { host })

function refusal(given: Pick<Signed, 'certificate' | 'key'>, host?: string) {
  try {
    read(given, host)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid')
      return `${error.fields[0]!.field} ${error.fields[0]!.message}`
    throw error
  }
  return null
}

test('a certificate with its key and chain is taken, and says its issuer and end', () => {
  const taken = read({ certificate: good.certificate + middle.certificate, key: good.key })
  expect(taken.certificate.match(/BEGIN CERTIFICATE/g)?.length).toBe(2)
  expect(taken.key).toStartWith('-----BEGIN PRIVATE KEY-----')
  const { issuer, notAfter } = describeCertificate(taken.certificate)
  expect(issuer).toBe('Example Trust')
  expect(Math.round((notAfter.getTime() - Date.now()) / day)).toBe(90)
})

test('the chain is put in order', () => {
  const chain = [root, middle, good].map(({ certificate }) => certificate).join('\n')
  const taken = read({ certificate: chain, key: good.key })
  expect(taken.certificate.replace(/\s/g, '')).toBe(
    [good, middle, root]
      .map(({ certificate }) => certificate)
      .join('')
      .replace(/\s/g, ''),
  )
})

test('text around it, line ends of Windows and blanks are no harm', () => {
  const certificate = `Bag Attributes\r\n  x\r\n${good.certificate.replaceAll('\n', '\r\n')}  \r\n`
  expect(refusal({ certificate, key: `\n\n${good.key.replaceAll('\n', ' \r\n')}` })).toBeNull()
})

test('keys of RSA and in the older forms are taken', async () => {
  const rsa = await issue({ key: ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'] })
  const older = await openssl('pkey', '-in', `${rsa.path}.key`, '-traditional')
  expect(older).toContain('BEGIN RSA PRIVATE KEY')
  expect(read({ ...rsa, key: older }).key).toContain('BEGIN PRIVATE KEY')
  const withCurve = await openssl('ec', '-in', `${good.path}.key`)
  expect(refusal({ ...good, key: withCurve })).toBeNull()
})

test('a wildcard covers one part of a name, and only a whole one', async () => {
  expect(refusal(good, 'a.apps.test')).toBeNull()
  expect(refusal(good, 'a.b.apps.test')).toStartWith(
    'certificate is for app.test, *.apps.test, not',
  )
  expect(refusal(good, 'apps.test')).toStartWith('certificate is for')
  const partly = await issue({ names: ['a*.test'] })
  expect(refusal(partly, 'app.test')).toStartWith('certificate is for')
})

test('only the names that browsers look at count', async () => {
  const old = await issue({ names: [], subject: '/CN=app.test' })
  expect(refusal(old)).toStartWith('certificate has no names (subjectAltName)')
})

test('a key of another certificate is refused', () => {
  expect(refusal({ ...good, key: middle.key })).toBe('key doesn’t belong to this certificate.')
})

test('a certificate that has ended or hasn’t begun is refused', () => {
  const [before, after] = [new Date(Date.now() - day), new Date(Date.now() + 91 * day)]
  const at = (now: Date) => () => readOwnCertificate(good, { host: 'app.test', now })
  expect(at(after)).toThrow(/certificate expired on 20\d\d-\d\d-\d\d\./)
  expect(at(before)).toThrow(/certificate isn’t valid before 20\d\d-\d\d-\d\d\./)
})

test('one that ends soon or has ended says so', () => {
  const after = (days: number) => describeOwn(good.certificate, new Date(Date.now() + days * day))
  expect(after(0)).toMatchObject({ status: 'issued', error: null })
  expect(after(80).error?.message).toMatch(/^This certificate expires on 20/)
  expect(after(80).status).toBe('issued')
  expect(after(91).error?.message).toMatch(/^This certificate expired on 20/)
  expect(after(91).status).toBe('failed')
})

test('keys that Caddy or browsers refuse are refused', async () => {
  const short = await issue({ key: ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024'] })
  expect(refusal(short)).toStartWith('key has 1024 bits.')
  for (const key of [
    ['-algorithm', 'ED25519'],
    ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:secp256k1'],
  ])
    expect(refusal(await issue({ key }))).toMatch(/^key (must be an RSA key|can’t be read)/)
})

test('an encrypted key says how to open it', async () => {
  const pass = ['-passout', 'pass:secret']
  const sealed = await openssl('pkcs8', '-topk8', '-in', `${good.path}.key`, ...pass)
  const older = await openssl('ec', '-aes128', '-in', `${good.path}.key`, ...pass)
  for (const key of [sealed, older])
    expect(refusal({ ...good, key })).toStartWith('key is encrypted. Remove its passphrase')
})

test('what is no PEM, damaged, doubled or huge is refused', () => {
  const { certificate, key } = good
  for (const [given, expected] of [
    [{ certificate: '', key }, 'certificate must be PEM text'],
    [{ certificate: 'MIIB', key }, 'certificate must be PEM text'],
    [{ certificate: key, key }, 'certificate contains a private key.'],
    [{ certificate: certificate.replace(/MII./, 'MIIA'), key }, 'certificate can’t be read'],
    [{ certificate, key: '' }, 'key must be PEM text'],
    [{ certificate, key: certificate }, 'key must be PEM text'],
    [{ certificate, key: key + key }, 'key must be a single key'],
    [{ certificate, key: key.replace(/\nM/, '\nA') }, 'key can’t be read'],
    [{ certificate: certificate.repeat(9), key }, 'certificate has more than 8'],
    [{ certificate: 'x'.repeat(70_000), key }, 'certificate must be at most'],
    [{ certificate, key: 'x'.repeat(20_000) }, 'key must be at most'],
    [{ certificate: '-----BEGIN CERTIFICATE-----\n'.repeat(2000), key }, 'certificate must be'],
  ] as const)
    expect(refusal(given)).toStartWith(expected)
})

test('what isn’t of the chain is named', async () => {
  const stranger = await issue({ names: [], subject: '/CN=Stranger', isAuthority: true })
  const certificate = good.certificate + stranger.certificate
  expect(refusal({ certificate, key: good.key })).toBe(
    'certificate contains one that isn’t part of its chain: CN=Stranger. Remove it.',
  )
})

test('a serial number that Caddy refuses is refused', async () => {
  for (const serial of ['-5', '0'])
    expect(refusal(await issue({ serial }))).toMatch(/serial number|can’t be read/)
})
