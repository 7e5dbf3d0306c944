import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { isAdmin } from '../accounts/store.ts'
import type { Config } from '../config.ts'
import type { Tx } from '../db/index.ts'
import { listOwnedCertificates, listOwnedHosts, ownersOfHosts } from './owner-store.ts'

type Uploaded = { host: string; certificate: string }

/**
 * Caddy shows an uploaded certificate for all names in it, whichever host it was uploaded for. Returns a name
 * in it that its owner may not serve, because someone else has it or an app may get it under DAVIT_DOMAIN.
 * Null when there is none, or the owner is an admin, who is trusted with all names.
 */
export function foreignNames(db: Tx, config: Pick<Config, 'url' | 'domain'>) {
  let known: Map<string, string | null> | null = null

  return function foreignNameIn({ host, certificate }: Uploaded): string | null {
    const owners = (known ??= ownersOfHosts(db, config))
    const ownerId = owners.get(host) ?? null
    if (isAdmin(db, ownerId)) return null
    const odd = oddNameIn(certificate)
    if (odd !== null) return odd
    const names = namesIn(certificate)
    for (const [other, otherId] of owners)
      if (otherId !== ownerId && isAmong(names, other)) return other
    const isFree = (name: string) => name.endsWith(`.${config.domain}`) && !owners.has(name)
    return (config.domain && [...names].find(isFree)) || null
  }
}

/**
 * Returns a name in a certificate that isn't one of its owner's hosts, directly above one, or below one: it
 * would keep other users from having that name. Null when there is none, or the owner is an admin.
 */
export function strangeNameIn(tx: Tx, { host, certificate }: Uploaded) {
  const hosts = listOwnedHosts(tx)
  const ownerId = hosts.find((other) => other.host === host)?.ownerId ?? null
  if (isAdmin(tx, ownerId)) return null
  const own = hosts.filter((other) => other.ownerId === ownerId).map((other) => other.host)
  const isUsual = (name: string) => {
    const base = name.replace(/^\*\./, '')
    if (isIP(base) || !hostLike.test(base)) return true // no one can have it as a host
    const isBelow = own.some((one) => `.${base}`.endsWith(`.${one}`))
    const isAbove = own.some((one) => one.slice(one.indexOf('.') + 1) === base)
    return !isShared.test(base) && (isBelow || isAbove)
  }
  return [...namesIn(certificate)].find((name) => !isUsual(name)) ?? null
}

const hostLike = /^[\w-]+(\.[\w-]+)+$/

/** Strangers have names below these: the usual second levels of countries, and names made of addresses. */
const isShared =
  /^(ac|co|com|edu|go|gob|gov|gouv|info|ltd|me|mil|ne|net|nom|or|org|plc|sch)\.[a-z]{2}$|(^|\.)(sslip|nip)\.io$/

/** True when a certificate that another user (not an admin) uploaded would be used for a host. */
export const isNameOfOther = (
  tx: Tx,
  { host, ownerId }: { host: string; ownerId: string | undefined },
) =>
  listOwnedCertificates(tx).some(
    ({ certificate, ...other }) =>
      other.ownerId !== ownerId &&
      !isAdmin(tx, other.ownerId) &&
      oddNameIn(certificate) === null && // otherwise it isn't used
      isAmong(namesIn(certificate), host),
  )

/** All names that Caddy reads, including those that browsers ignore, and alternative names of any kind. */
function namesIn(certificate: string): ReadonlySet<string> {
  const { common, others } = readNames(certificate)
  const hosts = others.map((name) => name.replace(/^[^:]*:/, ''))
  return new Set([...common, ...hosts].map((name) => name.toLowerCase()))
}

/**
 * Returns a name that no browser accepts, such as `*.com` or `*.*.test`, or one of another kind, such as
 * `URI:app.test#`: Caddy uses it for more hosts than it says, or for others. Null when there is none.
 */
function oddNameIn(certificate: string) {
  const { common, others } = readNames(certificate)
  const isOdd = (name: string) => name.includes('*') && !wildcard.test(name)
  return others.find((name) => !ordinary.test(name)) ?? common.find(isOdd) ?? null
}

const wildcard = /^\*(\.[\w-]+){2,}$/
const ordinary = /^(DNS:(\*\.[\w-]+\.)?[\w-]+(\.[\w-]+)*|IP Address:[\da-f.:]+)$/i

function readNames(certificate: string) {
  const { subject, subjectAltName } = new X509Certificate(certificate)
  const common = [...(subject ?? '').matchAll(/\bCN\s*=\s*([^\n+,]+)/g)].map(([, name]) => name!)
  const others = subjectAltName ? subjectAltName.split(', ') : []
  return { common: common.map((name) => name.trim()), others: others.map((name) => name.trim()) }
}

/** In Caddy's order: the host, then with one part after the other replaced by an asterisk. */
function isAmong(names: ReadonlySet<string>, host: string) {
  const parts = host.split('.')
  return [...parts, ''].some((_, count) =>
    names.has(parts.map((part, at) => (at < count ? '*' : part)).join('.')),
  )
}
