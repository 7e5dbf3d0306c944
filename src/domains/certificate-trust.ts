import { X509Certificate } from 'node:crypto'

/** An objection of browsers against a certificate that other clients may accept. */
export type Doubt = {
  message: string
  hint: string
  /** True for a private authority: no problem where that is installed. */
  isPrivate?: boolean
}

/** Maximum days of validity: Apple's for any authority, and all browsers' for public ones. */
const longest = { private: 825, public: 398 }

const day = 86_400_000

/** Why no client would accept a certificate for a server; null when some do. */
export function refusedUse(leaf: X509Certificate): string | null {
  // despite its name, the extended key usage
  const purposes = leaf.keyUsage as string[] | undefined
  if (purposes && !purposes.some((one) => one === serverAuth || one === anyPurpose))
    return 'isn’t for servers (extended key usage without serverAuth). Get one issued for a web server.'
  const uses = keyUses(leaf)
  if (uses !== null && !(uses & (keyUse.signature | keyUse.encipherment | keyUse.agreement)))
    return 'isn’t for TLS (key usage without digitalSignature). Get one issued for a web server.'
  if (isWeak(leaf))
    return `is signed by ${algorithmOf(leaf)}, which no browser accepts. Get it issued again.`
  return null
}

const serverAuth = '1.3.6.1.5.5.7.3.1'
const anyPurpose = '2.5.29.37.0'
const keyUse = { signature: 0x80, encipherment: 0x20, agreement: 0x08 }

/** The objections of browsers against a chain, which is in order. */
export function doubtsOf(
  chain: X509Certificate[],
  now = new Date(),
  roots: Roots = browserRoots(),
): Doubt[] {
  const leaf = chain[0]!
  const at = chain.findIndex((one) => isOfRoot(one, roots))
  const isPublic = at !== -1
  const path = isPublic ? chain.slice(0, at + 1) : chain
  const days = (endOf(leaf).getTime() - startOf(leaf).getTime()) / day
  const uses = keyUses(leaf)
  const most = longest[isPublic ? 'public' : 'private']
  const ownFaults: [boolean, string][] = [
    [
      uses !== null && !(uses & keyUse.signature),
      'Its key usage has no digitalSignature: most browsers refuse it.',
    ],
    [
      leaf.publicKey.asymmetricKeyDetails?.namedCurve === 'secp521r1',
      'Its key is of P-521: Chrome refuses it.',
    ],
    [leaf.ca, 'It is the certificate of an authority: Firefox refuses it for a server.'],
    [
      days > most + 1,
      `It is valid for ${Math.round(days)} days: ${isPublic ? 'browsers' : 'Apple’s devices'} refuse more than ${most}.`,
    ],
  ]
  return [
    ...(isPublic ? [] : [untrusted(chain)]),
    ...path.slice(1).flatMap((one) => {
      const why = faultOf(one, now)
      const message = `Its issuer ${nameOf(one.subject)} ${why}: browsers refuse it.`
      return why === null ? [] : [{ message, hint: newChain }]
    }),
    ...ownFaults.flatMap(([isOne, message]) => (isOne ? [{ message, hint: newOne }] : [])),
  ]
}

function faultOf(one: X509Certificate, now: Date) {
  if (isWeak(one)) return `is signed by ${algorithmOf(one)}`
  const bits = one.publicKey.asymmetricKeyDetails?.modulusLength ?? Infinity
  if (bits < 2048) return `has a key of ${bits} bits`
  if (endOf(one) <= now) return `expired on ${dayOf(endOf(one))}`
  return startOf(one) > now ? `isn’t valid before ${dayOf(startOf(one))}` : null
}

/** For a chain whose last certificate is no known root, nor issued by one. */
function untrusted(chain: X509Certificate[]): Doubt {
  const last = chain.at(-1)!
  const issuer = nameOf(last.issuer)
  if (!isSelfSigned(last))
    return {
      message: `The certificate of its issuer, ${issuer}, is missing, and browsers don’t know it: most show a warning instead of the app.`,
      hint: 'Upload the whole chain (often called fullchain.pem): the certificate, then those of its issuers. Only a proxy in front, or who installed that issuer, can do without.',
    }
  return {
    message:
      chain.length === 1
        ? 'It is self-signed: browsers show a warning, except where it was installed.'
        : `Its authority, ${issuer}, isn’t one that browsers know: they show a warning, except where it was installed.`,
    hint: 'For visitors from outside, use a certificate of a public authority, or choose automatic HTTPS.',
    isPrivate: true,
  }
}

const newOne = 'Get a new certificate issued, or choose automatic HTTPS.'
const newChain = 'Upload it again with the current certificates of its issuers.'

type Roots = Map<string, X509Certificate[]>

/** Indexed by their subjects. */
export const rootsOf = (pems: readonly string[]): Roots =>
  Map.groupBy(
    pems.map((pem) => new X509Certificate(pem)),
    ({ subject }) => subject,
  )

/** Mozilla's roots, read with the first certificate: importing the module by name would read them at the start. */
const browserRoots = () =>
  (mozilla ??= rootsOf((require('node:tls') as typeof import('node:tls')).rootCertificates))
let mozilla: Roots | null = null

/** A root itself, or another certificate of its key, counts as issued by it. */
const isOfRoot = (one: X509Certificate, roots: Roots) =>
  (roots.get(one.subject) ?? []).some((root) => root.publicKey.equals(one.publicKey)) ||
  (roots.get(one.issuer) ?? []).some((root) => verifies(one, root))

const isSelfSigned = (one: X509Certificate) => one.issuer === one.subject && verifies(one, one)

function verifies(one: X509Certificate, issuer: X509Certificate) {
  try {
    return one.checkIssued(issuer) && one.verify(issuer.publicKey)
  } catch {
    return false // its algorithm is unknown here
  }
}

/** Missing in Bun's types. */
const algorithmOf = (one: X509Certificate & { signatureAlgorithm?: string }) =>
  one.signatureAlgorithm ?? ''

const startOf = ({ validFrom }: X509Certificate) => new Date(validFrom)
const endOf = ({ validTo }: X509Certificate) => new Date(validTo)

/** No client checks the signature of a self-signed certificate. */
const isWeak = (one: X509Certificate) =>
  /md[245]|sha-?1(?!\d)/i.test(algorithmOf(one)) && !isSelfSigned(one)

/** The first byte of the key usage; null when it isn't limited. */
function keyUses({ raw }: X509Certificate): number | null {
  const found = /^(?:..)*?0603551d0f(?:0101ff)?04..03..(?:..)(..)/.exec(raw.toString('hex'))
  return found && parseInt(found[1]!, 16)
}

/** The common name of a subject or issuer, or all of it without one. */
const nameOf = (subject: string) =>
  (/^CN=(.+)$/m.exec(subject)?.[1] ?? subject.replaceAll('\n', ', ')).slice(0, 200)

export const dayOf = (time: Date) => time.toISOString().slice(0, 10)
