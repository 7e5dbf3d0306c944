import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { invalidField } from '../platform/errors.ts'
import { dayOf, doubtsOf, refusedUse } from './certificate-trust.ts'

/** In PEM. */
export type Uploaded = { certificate: string; key: string }

/** In characters; a chain of four certificates has about 8,000. */
export const maxCertificate = 32 * 1024
export const maxKey = 16 * 1024

/** Let's Encrypt issues no certificate with more names. */
const maxNames = 100

/** A chain usually has two or three. */
const maxChain = 8

/**
 * Checks an uploaded certificate against its key, a host and the time. Returns both normalised: the host's
 * certificate first, each issuer after it. Throws `invalid` with the problem.
 */
export function readOwnCertificate(
  { certificate, key }: Uploaded,
  { host, now = new Date() }: { host: string; now?: Date },
): Uploaded {
  const opened = openKey(key)
  const chain = openChain(certificate)
  const leaf = chain.find((one) => one.checkPrivateKey(opened))
  if (!leaf) throw keyError('doesn’t belong to this certificate.')
  refuseName(leaf, host)
  if ((leaf.subjectAltName?.split(', ').length ?? 0) > maxNames)
    throw certificateError(`has more than ${maxNames} names. Use one with fewer.`)
  refuseTime(leaf, now)
  const use = refusedUse(leaf)
  if (use !== null) throw certificateError(use)
  if (!/^[0-9A-F]+$/i.test(leaf.serialNumber) || /^0*$/.test(leaf.serialNumber))
    throw certificateError(
      'has a serial number that isn’t allowed (RFC 5280). Get a new one issued.',
    )
  return {
    certificate: inOrder(leaf, chain).join(''),
    key: opened.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** Takes a PEM that `readOwnCertificate` returned. */
export function describeCertificate(certificate: string) {
  const leaf = new X509Certificate(certificate)
  return { issuer: nameOfIssuer(leaf), notAfter: new Date(leaf.validTo) }
}

/** Milliseconds before its end in which a certificate should have been renewed or replaced. */
const soon = 21 * 86_400_000

export const endsSoon = (notAfter: Date, now = new Date()) =>
  notAfter.getTime() - now.getTime() < soon

const endingHint =
  'Davit can’t renew an uploaded certificate. Choose Edit to upload a new one, or choose automatic HTTPS.'

/** Says that an uploaded certificate has expired or soon will; null while there is time. */
export function endingOf({ notAfter }: { notAfter: Date }, now = new Date()) {
  if (!endsSoon(notAfter, now)) return null
  const message =
    notAfter <= now
      ? `This certificate expired on ${dayOf(notAfter)}: browsers show a warning instead of the app.`
      : `This certificate expires on ${dayOf(notAfter)}.`
  return { message, hint: endingHint }
}

/** Adds its state and the objections of browsers: only the user can renew it. */
export function describeOwn(
  certificate: string,
  now = new Date(),
  { isPrivateFine = false }: { isPrivateFine?: boolean } = {},
) {
  const { issuer, notAfter } = describeCertificate(certificate)
  const ending = endingOf({ notAfter }, now)
  const chain = blocksIn(certificate).map(({ pem }) => new X509Certificate(pem))
  const found = [
    ...(ending ? [ending] : []),
    ...doubtsOf(chain, now).filter(({ isPrivate }) => !(isPrivate && isPrivateFine)),
  ]
  return {
    ...{ issuer, notAfter },
    status: notAfter <= now ? ('failed' as const) : ('issued' as const),
    error: found[0]
      ? { message: found.map((one) => one.message).join(' '), hint: found[0].hint }
      : null,
  }
}

export function nameOfIssuer({ issuer }: Pick<X509Certificate, 'issuer'>) {
  const parts = new Map(issuer.split('\n').map((part) => part.split(/=(.*)/s) as [string, string]))
  return (parts.get('O') ?? parts.get('CN') ?? issuer).slice(0, 200)
}

function openKey(text: string): KeyObject {
  if (text.length > maxKey) throw keyError(`must be at most ${maxKey} characters.`)
  const blocks = blocksIn(text).filter(({ label }) => label.endsWith('PRIVATE KEY'))
  if (blocks.length === 0)
    throw keyError('must be PEM text that starts with -----BEGIN PRIVATE KEY-----.')
  if (blocks.length > 1) throw keyError('must be a single key.')
  const [{ label, pem }] = blocks as [Block]
  if (label.startsWith('ENCRYPTED') || /^Proc-Type:.*ENCRYPTED/m.test(pem))
    throw keyError('is encrypted. Remove its passphrase: openssl pkey -in key.pem -out plain.pem')
  const opened = tryTo(() => createPrivateKey(pem))
  if (!opened) throw keyError('can’t be read: it is damaged or of an unknown kind.')
  refuseKind(opened)
  return opened
}

/** Throws for keys that Caddy or browsers would refuse. */
function refuseKind({ asymmetricKeyType: kind, asymmetricKeyDetails: details }: KeyObject) {
  if (kind === 'rsa') {
    const bits = details?.modulusLength ?? 0
    if (bits >= 2048 && bits <= 8192) return
    throw keyError(`has ${bits} bits. An RSA key must have 2,048 to 8,192.`)
  }
  if (kind === 'ec' && curves.includes(details?.namedCurve ?? '')) return
  throw keyError('must be an RSA key, or an ECDSA key of P-256, P-384 or P-521.')
}

const curves = ['prime256v1', 'secp384r1', 'secp521r1']

function openChain(text: string): X509Certificate[] {
  if (text.length > maxCertificate)
    throw certificateError(`must be at most ${maxCertificate} characters.`)
  const blocks = blocksIn(text)
  if (blocks.some(({ label }) => label.endsWith('PRIVATE KEY')))
    throw certificateError('contains a private key. Enter the key in its own field.')
  const found = blocks.filter(({ label }) => label === 'CERTIFICATE')
  if (found.length === 0)
    throw certificateError('must be PEM text that starts with -----BEGIN CERTIFICATE-----.')
  if (found.length > maxChain)
    throw certificateError(
      `has more than ${maxChain} certificates. Remove those that aren’t part of its chain.`,
    )
  return found.map(({ pem }, at) => {
    const opened = tryTo(() => new X509Certificate(pem))
    if (opened) return opened
    throw certificateError(
      found.length === 1
        ? 'can’t be read: it is damaged.'
        : `has a damaged part (number ${at + 1}).`,
    )
  })
}

type Block = { label: string; pem: string }

function blocksIn(text: string): Block[] {
  const blocks: Block[] = []
  let open: { label: string; lines: string[] } | null = null
  for (const line of text.split(/\r?\n/).map((line) => line.trim())) {
    const label = /^-----BEGIN ([A-Z0-9 ]{1,60})-----$/.exec(line)?.[1]
    if (label) open = { label, lines: [] }
    open?.lines.push(line)
    if (!open || line !== `-----END ${open.label}-----`) continue
    blocks.push({ label: open.label, pem: `${open.lines.join('\n')}\n` })
    open = null
  }
  return blocks
}

function refuseName(leaf: X509Certificate, host: string) {
  const options = { subject: 'never', partialWildcards: false, wildcards: true } as const
  if (leaf.checkHost(host, options)) return
  const names = (leaf.subjectAltName ?? '')
    .split(', ')
    .flatMap((name) => /^DNS:(.+)$/.exec(name)?.[1] ?? [])
  const listed = names.slice(0, 5).join(', ') + (names.length > 5 ? ', …' : '')
  throw certificateError(
    names.length === 0
      ? `has no names (subjectAltName), so browsers don’t accept it for ${host}.`
      : `is for ${listed}, not for ${host}.`,
  )
}

function refuseTime({ validFrom, validTo }: X509Certificate, now: Date) {
  const [from, until] = [new Date(validFrom), new Date(validTo)]
  if (until <= now) throw certificateError(`expired on ${dayOf(until)}.`)
  if (from > now) throw certificateError(`isn’t valid before ${dayOf(from)}.`)
}

/** Orders the chain from the host's certificate up, as clients need it. */
function inOrder(leaf: X509Certificate, chain: X509Certificate[]) {
  const others = new Map(chain.map((one) => [one.fingerprint256, one]))
  others.delete(leaf.fingerprint256)
  const left = new Set(others.values())
  const ordered = [leaf]
  for (let current = leaf; left.size > 0; current = ordered.at(-1)!) {
    const issuer = [...left].find(
      (one) => current.checkIssued(one) && tryTo(() => current.verify(one.publicKey)),
    )
    if (!issuer) break
    if (!issuer.ca && !issuer.checkIssued(issuer))
      throw certificateError(
        `is issued by ${issuer.subject.replaceAll('\n', ', ').slice(0, 200)}, which isn’t an authority. Get one from an authority.`,
      )
    left.delete(issuer)
    ordered.push(issuer)
  }
  if (left.size > 0) {
    const [stray] = left
    throw certificateError(
      `contains one that isn’t part of its chain: ${stray!.subject.replaceAll('\n', ', ').slice(0, 200)}. Remove it.`,
    )
  }
  return ordered.map((one) => one.toString())
}

const certificateError = (message: string) => invalidField('certificate', message)
const keyError = (message: string) => invalidField('key', message)

function tryTo<Result>(work: () => Result): Result | null {
  try {
    return work()
  } catch {
    return null
  }
}
