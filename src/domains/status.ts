import type { Failure } from '../platform/errors.ts'
import type { Look } from '../web/status-badge.tsx'
import { endsSoon } from './certificate-own.ts'
import { noAddress } from './dns-check.ts'
import type { ShownDomain } from './json.ts'

/** A word or two. `off` says why no names are served, `rejected` why some aren't although others are. */
export function lookOf(
  { host, dns, certificate, https, maintenance }: ShownDomain,
  { off, rejected }: { off: Failure | null; rejected: ReadonlyMap<string, Failure> },
): Look {
  if (off) return looks.off
  if (rejected.has(host)) return looks.rejected
  if (dns.checkedAt === null || (https === 'auto' && certificate === null)) return looks.checking
  if (dns.ok === false) return dns.found.length === 0 ? looks.waiting : looks.wrongDns
  if (certificate) {
    const { status, notAfter, error } = certificate
    if (status === 'failed') return https === 'own' ? looks.ended : looks.failed
    if (status === 'waiting' && !dns.ok) return looks.waiting
    if (status === 'pending') return looks.issuing
    if (error && notAfter && endsSoon(notAfter)) return looks.endsSoon
    if (error && https === 'own') return looks.doubted
  }
  return maintenance ? inMaintenance : looks.ready
}

/** Said beside another state, too, which hides that visitors get a page of it. */
export const inMaintenance: Look = { word: 'Maintenance', tone: 'quiet', icon: 'square' }

const looks = {
  off: { word: 'Off', tone: 'quiet', icon: 'minus' },
  rejected: { word: 'Not served', tone: 'bad', icon: 'x' },
  checking: { word: 'Checking', tone: 'active', icon: 'loader-circle' },
  waiting: { word: 'Waiting for DNS', tone: 'quiet', icon: 'clock' },
  wrongDns: { word: 'Wrong DNS', tone: 'bad', icon: 'triangle-alert' },
  issuing: { word: 'Issuing', tone: 'active', icon: 'loader-circle' },
  failed: { word: 'HTTPS failed', tone: 'bad', icon: 'x' },
  ended: { word: 'Expired', tone: 'bad', icon: 'x' },
  endsSoon: { word: 'Expires soon', tone: 'bad', icon: 'triangle-alert' },
  doubted: { word: 'Browser warning', tone: 'bad', icon: 'triangle-alert' },
  ready: { word: 'Ready', tone: 'good', icon: 'check' },
} satisfies Record<string, Look>

export type Problem = {
  message: string
  hint: string | null
  /** Addresses that the name should resolve to. */
  records: string[]
}

export function problemOf({ host, dns, certificate, https }: ShownDomain): Problem | null {
  const error = certificate?.error ?? null
  if (dns.ok === false) {
    const told = certificate?.status === 'waiting' ? error : null
    const own = https === 'own' && error ? ` ${error.message}` : ''
    return {
      message: told?.message ?? dnsMessage(host, dns) + own,
      hint: dns.expected.length > 0 ? proxyHint(dns) : (told?.hint ?? null),
      records: dns.expected,
    }
  }
  return error && { message: error.message, hint: error.hint, records: [] }
}

/** For a name that points elsewhere: its records are right if a proxy passes visitors on. */
const proxyHint = ({ found }: ShownDomain['dns']) =>
  found.length === 0
    ? null
    : `If ${found.join(', ')} is a proxy such as Cloudflare in front of this server, nothing is wrong: let it connect over HTTP, or upload a certificate here. An admin names its addresses in DAVIT_TRUSTED_PROXIES.`

const dnsMessage = (host: string, { found, expected }: ShownDomain['dns']) =>
  found.length === 0
    ? noAddress(host)
    : `${host} points to ${found.join(', ')} instead of ${expected.join(', ') || 'this server'}.`
