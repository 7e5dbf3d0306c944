import { appsAddress } from '../config.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { isLocalhost } from '../platform/hosts.ts'
import { endsWithin } from '../platform/pause.ts'
import type { Places } from './places.ts'
import { isIssued, isMissing, listDomains, listGivenHosts } from './store.ts'
import type { Domain, Holder } from './store.ts'

export type UrlDeps = {
  db: Db
  config: Pick<Config, 'domain' | 'edgePorts'>
  /** False when names aren't served. */
  edge: { isOn: boolean }
}

/**
 * The first address with a name; null when there is none, or no edge to serve it. It is one that a browser
 * can open now, so a name that isn't in the DNS comes last; with `isIntended` it is the future one, which
 * apps get.
 */
export function namedUrl(
  deps: UrlDeps,
  {
    holder,
    label,
    isIntended = false,
  }: { holder: Holder; label: string | null; isIntended?: boolean },
) {
  const { db, config, edge } = deps
  if (!edge.isOn) return null
  const own = listDomains(db, holder).filter(({ redirectTo }) => redirectTo === null)
  const host = label && config.domain && `${label}.${config.domain}`
  const named = host && listGivenHosts(db, [host]).length === 0
  const all = [...own, ...(named ? [{ host, path: '/', https: 'auto' as const }] : [])]
  const isOpen = (one: { host: string }) => isIntended || !isMissing(db, one.host)
  const first = all.length > 1 ? (all.find(isOpen) ?? all[0]) : all[0]
  return first ? domainUrl(deps, first, { isIntended }) : null
}

export function domainUrl(
  { db, config }: Omit<UrlDeps, 'edge'>,
  { host, path, https }: Pick<Domain, 'host' | 'path' | 'https'>,
  { isIntended = false } = {},
) {
  const isToBe = isIntended && !isLocalhost(host)
  const isSecure = https === 'own' || (https === 'auto' && (isToBe || isIssued(db, host)))
  const { http: plainPort, https: securePort } = config.edgePorts
  const [scheme, port, usual] = isSecure ? ['https', securePort, 443] : ['http', plainPort, 80]
  return `${scheme}://${host}${port === usual ? '' : `:${port}`}${path === '/' ? '' : path}`
}

/** Makes the edge serve what was stored. */
export type Serving = {
  edge: { sync(): Promise<void> }
  /** Checks new names, for their certificates. */
  certificates: { look(): void }
  config: Pick<Config, 'acceptTimeout'>
}

/** Waits until the edge serves what was just stored, as long as a request may wait. */
export function served({ edge, certificates, config }: Serving) {
  certificates.look()
  return endsWithin(config.acceptTimeout, edge.sync())
}

/** Addresses that stand for all of this host, each with one that this machine can connect to. */
const everywhere: Record<string, string> = { '0.0.0.0': appsAddress, '::': 'localhost' }

export function urlOn(hostPort: number, { publishAddress, url, remote }: Omit<Places, 'note'>) {
  const host = everywhere[publishAddress]
    ? (remote ?? url?.hostname ?? everywhere[publishAddress])
    : publishAddress
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${hostPort}`
}
