import { listOwnedHosts } from '../addresses/owner-store.ts'
import {
  holderOf,
  insertDomain,
  listOfHost,
  refuseMoreSettings,
  refuseTaken,
  setHostOptions,
  hostOptionsOf,
} from '../addresses/store.ts'
import type { Domain, Holder } from '../addresses/store.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { invalidField } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { inTurn, Semaphore } from '../platform/semaphore.ts'
import type { AskedAccount, AskedDomain } from './forms.ts'
import type { Target } from '../services/ports.ts'
import { updateDomain } from './store.ts'
import type { DomainChanges } from './store.ts'
import { foreignNames, strangeNameIn } from '../addresses/certificate-names.ts'
import { openKey, sealedAs } from '../addresses/plan.ts'
import { readOwnCertificate } from './certificate-own.ts'

type SaveDeps = { db: Db; secrets: Secrets; config: Config }

/** The validated input, after all slow work. */
export type Prepared = {
  asked: AskedDomain
  /** Undefined keeps the current one. Null means the first port that the service publishes. */
  target: Target | null | undefined
  accounts: HashedAccount[] | undefined
}

/** Without a hash, the user name keeps its password. */
export type HashedAccount = { username: string; hash: string | null }

/** Caddy supports this algorithm. */
const bcrypt = { algorithm: 'bcrypt', cost: 10 } as const

/** Separate from logins, which many of these mustn't delay. */
const hashing = new Semaphore(1)

/** Limits waiting requests: each may have 20 passwords, and each password takes a second. */
const queue = {
  maxWaiting: 10,
  full: 'Too many passwords are being stored. Try again in a moment.',
  retryAfter: 10,
}

/** Slow for each password. Throws `unavailable` when too many wait. */
export const hashAccounts = (accounts: AskedAccount[]): Promise<HashedAccount[]> =>
  inTurn(hashing, queue, async () => {
    const hashed: HashedAccount[] = []
    for (const { username, password } of accounts)
      hashed.push({ username, hash: password ? await Bun.password.hash(password, bcrypt) : null })
    return hashed
  })

/** Call it in a transaction. Throws `conflict` or `invalid`; nothing may be stored then. */
export function addDomain(
  deps: SaveDeps,
  holder: Holder,
  { host, ...prepared }: Prepared & { host: string },
): Domain {
  const { db, config } = deps
  const path = prepared.asked.path ?? '/'
  const { id } = insertDomain(db, holder, { host, path }, { config })
  const domain = updateDomain(db, id, changesOf(prepared, { accounts: [] }))
  const { https, hsts } = prepared.asked
  // empty means as the host's other paths, if it has any
  const asked = { ...prepared.asked, https: https ?? undefined, hsts: hsts ?? undefined }
  return finished(deps, { domain, current: domain, asked })
}

/** Call it in a transaction. Throws `conflict` or `invalid`; nothing may be stored then. */
export function changeDomain(deps: SaveDeps, current: Domain, prepared: Prepared): Domain {
  const { db, config } = deps
  const { asked } = prepared
  const host = asked.host ?? current.host
  const path = asked.path === undefined ? current.path : (asked.path ?? '/')
  const [twin] = listOfHost(db, host).filter(({ id }) => id !== current.id)
  if (host !== current.host || path !== current.path)
    refuseTaken(db, holderOf(current), { host, path, config, id: current.id })
  const changes = { ...changesOf(prepared, current), host, path }
  const domain = updateDomain(db, current.id, changes)
  const isMoved = host !== current.host && twin !== undefined
  return finished(deps, { domain, current: isMoved ? twin : current, asked })
}

/** Sets what all paths of a host share, and checks redirects for loops. */
function finished(
  deps: SaveDeps,
  { domain, current, asked }: { domain: Domain; current: Domain; asked: AskedDomain },
): Domain {
  const { db } = deps
  const { id, host } = domain
  setHostOptions(db, host, httpsAfter(deps, { host, current, asked }))
  refuseMoreSettings(db, holderOf(domain))
  if (domain.redirectTo !== null) refuseCircle(deps, host)
  return updateDomain(db, id, {})
}

/** Only checks the redirects of the same owner: others' settings are no reason to refuse. */
function refuseCircle({ db, config }: SaveDeps, host: string) {
  const sites = listOwnedHosts(db)
  const owner = sites.find((site) => site.host === host)?.ownerId
  const own = sites.filter(({ ownerId }) => ownerId === owner)
  if (isInCircle(own, { host, ports: config.edgePorts }))
    throw invalidField('redirectTo', 'leads back to this domain in a loop, or redirects too often.')
}

function changesOf(
  { asked, target, accounts }: Prepared,
  current: Pick<Domain, 'accounts'>,
): DomainChanges {
  const { protocol, redirectTo, allowIps, headers, maxBody, maintenance } = asked
  return {
    ...(target !== undefined && {
      component: target?.component ?? null,
      port: target?.port ?? null,
    }),
    ...{ protocol, redirectTo, allowIps, headers, maxBody, maintenance },
    accounts: accounts && accounts.map((account) => withHash(account, current.accounts)),
  }
}

type Account = Domain['accounts'][number]

function withHash({ username, hash }: HashedAccount, current: Account[]): Account {
  const kept = hash ?? current.find((other) => other.username === username)?.hash
  if (kept) return { username, hash: kept }
  throw invalidField('basicAuth', `has no password for ${username}. Enter ${username}:password.`)
}

type HostOptions = ReturnType<typeof hostOptionsOf>

/**
 * The HTTPS settings of a host after a change; `current` is what it has, or had under another name. Throws
 * `invalid` for a certificate that doesn't match, or is missing.
 */
function httpsAfter(
  deps: SaveDeps,
  { host, current, asked }: { host: string; current: Domain; asked: AskedDomain },
): HostOptions {
  const kind = asked.https === undefined ? current.https : (asked.https ?? 'auto')
  if (asked.hsts && kind === 'off')
    throw invalidField('hsts', 'needs HTTPS, which is off for this host.')
  const hsts = kind !== 'off' && (asked.hsts === undefined ? current.hsts : (asked.hsts ?? false))
  const isNew = current.https !== 'own' || asked.certificate || asked.key
  if (kind === 'own' && deps.config.edge === 'external' && isNew)
    throw invalidField(
      'https',
      'can’t be own with DAVIT_EDGE=external, because your Caddy only uses the certificates in its own settings. Add the certificate there.',
    )
  if (kind === 'own')
    return { https: kind, hsts, ...certificateAfter(deps, { host, current, asked }) }
  for (const field of ['certificate', 'key'] as const)
    if (asked[field]) throw invalidField(field, `is only used with https=own; here it is ${kind}.`)
  return { https: kind, hsts, certificate: null, certificateKey: null }
}

function certificateAfter(
  { db, secrets, config }: SaveDeps,
  { host, current, asked }: { host: string; current: Domain; asked: AskedDomain },
) {
  const { certificate, key } = asked
  const stored = current.https === 'own' ? current : null
  if (certificate && key) return sealed({ certificate, key })
  if (certificate)
    throw invalidField('key', 'is missing. Enter the private key of the certificate.')
  if (key) throw invalidField('certificate', 'is missing. Enter the certificate of the key.')
  if (!stored)
    throw invalidField('certificate', 'is missing. Enter a certificate with its private key.')
  if (current.host === host) return pickStored(stored)
  const opened = openKey({ secrets }, stored)
  if (opened === null)
    throw invalidField('certificate', 'has a key that can no longer be read. Enter both again.')
  return sealed({ certificate: stored.certificate!, key: opened })

  function sealed(given: { certificate: string; key: string }) {
    const read = readOwnCertificate(given, { host })
    const foreign = foreignNames(db, config)({ host, certificate: read.certificate })
    if (foreign !== null)
      throw invalidField(
        'certificate',
        `is also for ${foreign}, which isn’t yours. Use one for your own names.`,
      )
    const strange = strangeNameIn(db, { host, certificate: read.certificate })
    if (strange !== null)
      throw invalidField(
        'certificate',
        `is also for ${strange}, which isn’t one of your domains. Add that domain first, or use a certificate without it.`,
      )
    return {
      certificate: read.certificate,
      certificateKey: secrets.seal(read.key, sealedAs(host)),
    }
  }
}

const pickStored = ({ certificate, certificateKey }: Domain) => ({ certificate, certificateKey })

type RedirectSite = { host: string; path: string; redirectTo: string | null }

type RedirectAddress = { host: string; path: string }

/** Browsers follow no more. */
const mostHops = 20

/**
 * True when a request is redirected through this host in a loop, or more often than a browser follows. A loop
 * whose path grows with each round never repeats.
 */
function isInCircle(
  sites: RedirectSite[],
  { host, ports }: { host: string; ports: Config['edgePorts'] },
) {
  const byHost = Map.groupBy(
    sites
      .map((site) => ({ ...site, prefix: prefixOf(site.path), target: targetOf(site.redirectTo) }))
      .toSorted((a, b) => b.path.length - a.path.length),
    (site) => site.host,
  )
  return [...byHost.values()]
    .flat()
    .some((site) => site.target && [site.host, site.target.host].includes(host) && circles(site))

  function circles(start: RedirectAddress) {
    let place: RedirectAddress | null = start
    for (let hops = 0; hops < mostHops && place; hops++) place = next(place)
    return place !== null
  }

  function next({ host, path }: RedirectAddress): RedirectAddress | null {
    const prefix = prefixOf(path)
    // the longest prefix wins, ignoring case
    const target = byHost.get(host)?.find((site) => prefix.startsWith(site.prefix))?.target
    return target
      ? { host: target.host, path: target.path + (path === '/' ? '' : path) || '/' }
      : null
  }

  function targetOf(redirectTo: string | null): RedirectAddress | null {
    const url = redirectTo ? URL.parse(redirectTo) : null
    if (!url) return null
    const [usual, own] = url.protocol === 'https:' ? [443, ports.https] : [80, ports.http]
    if (![usual, own].includes(Number(url.port || usual))) return null
    return { host: url.hostname.replace(/\.$/, ''), path: url.pathname.replace(/\/$/, '') }
  }
}

const prefixOf = (path: string) => (path === '/' ? '/' : `${path.toLowerCase()}/`)
