import { expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import {
  describeCertificate,
  describeOwn,
  readOwnCertificate,
} from '../../src/domains/certificate-own.ts'
import { AppError } from '../../src/platform/errors.ts'
import { doubtsOf, rootsOf } from '../../src/domains/certificate-trust.ts'
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
const rsa = ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048']
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
  const chain = [good, middle, root].map(({ certificate }) => certificate).join('')
  const after = (days: number) =>
    describeOwn(chain, new Date(Date.now() + days * day), { isPrivateFine: true })
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

test('what no client accepts for a server is refused', async () => {
  const trust = await issue({ names: [], isAuthority: true, key: rsa })
  for (const [given, expected] of [
    [{ extensions: ['extendedKeyUsage=clientAuth'] }, 'certificate isn’t for servers'],
    [
      { extensions: ['extendedKeyUsage=codeSigning,emailProtection'] },
      'certificate isn’t for serv',
    ],
    [{ extensions: ['keyUsage=critical,keyCertSign,cRLSign'] }, 'certificate isn’t for TLS'],
    [{ by: middle, digest: 'sha1' }, 'certificate is signed by ecdsa-with-SHA1'],
    [{ by: trust, digest: 'sha1' }, 'certificate is signed by sha1WithRSAEncryption'],
    [{ by: trust, digest: 'md5' }, 'certificate is signed by md5WithRSAEncryption'],
    [{ extensions: ['extendedKeyUsage=serverAuth,clientAuth'] }, null],
    [{ extensions: ['extendedKeyUsage=anyExtendedKeyUsage'] }, null],
    [{ extensions: ['keyUsage=digitalSignature'] }, null],
    [{ extensions: ['keyUsage=keyEncipherment'], key: rsa }, null],
  ] as const) {
    const found = refusal(await issue(given as Parameters<typeof issue>[0]))
    if (expected === null) expect(found).toBeNull()
    else expect(found).toStartWith(expected)
  }
})

test('an issuer that is no authority is refused', async () => {
  const leaf = await issue({ by: good })
  expect(refusal({ certificate: leaf.certificate + good.certificate, key: leaf.key })).toStartWith(
    'certificate is issued by CN=test, which isn’t an authority.',
  )
})

test('an issuer that is there twice counts once', () => {
  const certificate = good.certificate + middle.certificate.repeat(2)
  expect(read({ certificate, key: good.key }).certificate.match(/BEGIN/g)?.length).toBe(2)
})

const opened = (...chain: Signed[]) =>
  chain.map(({ certificate }) => new X509Certificate(certificate))
const known = rootsOf([root.certificate])
const doubts = (chain: Signed[], { now = new Date(), roots = known } = {}) =>
  doubtsOf(opened(...chain), now, roots).map(({ message }) => message)

test('a chain up to a root that browsers know has no doubts', () => {
  expect(doubts([good, middle])).toEqual([])
  expect(doubts([good, middle, root])).toEqual([])
})

test('a chain without its intermediate says which one is missing', () => {
  expect(doubts([good])).toEqual([expect.stringMatching(/its issuer, R1, is missing/)])
  const said = describeOwn(good.certificate)
  expect(said).toMatchObject({ status: 'issued', error: { message: expect.stringMatching(/R1/) } })
})

test('an authority of one’s own and a self-signed one say so, to the doctor only where more is wrong', async () => {
  const chain = [good, middle, root].map(({ certificate }) => certificate).join('')
  expect(describeOwn(chain).error?.message).toMatch(/^Its authority, Root, isn’t one that browsers/)
  expect(describeOwn(chain, new Date(), { isPrivateFine: true }).error).toBeNull()
  const alone = await issue()
  expect(describeOwn(alone.certificate).error?.message).toMatch(/^It is self-signed/)
})

test('what some browsers refuse is said', async () => {
  const ended = await issue({
    ...{ names: [], by: root, isAuthority: true, days: 1 },
    subject: '/CN=R0',
  })
  const below = await issue({ by: ended })
  const now = new Date(Date.now() + 2 * day)
  expect(doubts([below, ended], { now })).toEqual([expect.stringMatching(/R0 expired on/)])
  const early = new Date(Date.now() - day)
  expect(doubts([below, ended], { now: early })[0]).toMatch(/R0 isn’t valid before/)
  const weak = await issue({
    ...{ names: [], by: root, isAuthority: true, digest: 'sha1' },
    subject: '/CN=W',
  })
  expect(doubts([await issue({ by: weak }), weak])).toEqual([
    expect.stringMatching(/W is signed by/),
  ])
  const small = ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024']
  const short = await issue({ names: [], by: root, isAuthority: true, key: small })
  expect(doubts([await issue({ by: short }), short])[0]).toMatch(/has a key of 1024 bits/)
  expect(doubts([await issue({ by: root, days: 399 })])).toEqual([])
  expect(doubts([await issue({ by: root, days: 400 })])[0]).toMatch(/400 days: browsers refuse/)
  const none = { roots: rootsOf([]) }
  expect(doubts([await issue({ days: 400 })], none)).toHaveLength(1)
  expect(doubts([await issue({ days: 900 })], none)[1]).toMatch(/900 days: Apple/)
  const curve = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-521']
  expect(doubts([await issue({ by: root, key: curve })])[0]).toMatch(/P-521/)
  expect(doubts([await issue({ by: root, isAuthority: true })])[0]).toMatch(/Firefox/)
  const extensions = ['keyUsage=keyEncipherment']
  expect(doubts([await issue({ by: root, extensions, key: rsa })])[0]).toMatch(/digitalSignature/)
})

test('the roots that browsers know are Mozilla’s, also by another certificate of their key', () => {
  for (const pem of rootCertificates)
    expect(
      doubtsOf([new X509Certificate(pem)]).filter(({ message }) => /know|missing/.test(message)),
    ).toEqual([])
})
