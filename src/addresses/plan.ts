import { isIP } from 'node:net'
import type { Config } from '../config.ts'
import type { CertificateStatus } from '../db/domain-schema.ts'
import type { Db } from '../db/index.ts'
import { davitKey } from '../edge/plan.ts'
import type { Host, Https, Listener, Plan, Site } from '../edge/plan.ts'
import { canonicalHost } from '../platform/hosts.ts'
import type { Secrets } from '../platform/secrets.ts'
import { foreignNames } from './certificate-names.ts'
import { isDavits } from './hosts.ts'
import { placesOf } from './places.ts'
import { listAllDomains, listCertificates, listEdgePorts, listLabelled } from './store.ts'
import type { Domain } from './store.ts'

type PlanDeps = { db: Db; secrets: Pick<Secrets, 'open'>; config: Config }

/** Everything the edge has to serve, according to the database. */
export function planOf(deps: PlanDeps): Omit<Plan, 'folder' | 'ports'> {
  const { db, config } = deps
  const states = new Map(listCertificates(db).map(({ host, status }) => [host, status]))
  // a setting may give Davit a name that a user already has
  const rows = listAllDomains(db).filter(({ host }) => !isDavits(host, config))
  const given = Map.groupBy(rows, ({ host }) => host)
  const foreignName = foreignNames(db, config)
  const hosts = [...given].flatMap(([name, rows]) => hostOf(name, rows) ?? [])
  const generated = config.domain
    ? listLabelled(db)
        .map(({ id, label }) => ({ id, name: `${label}.${config.domain}` }))
        .filter(({ name }) => !given.has(name) && !isDavits(name, config))
        .map(({ id, name }): Host => {
          const https = autoHttps(states.get(name))
          return { name, https, sites: [{ path: '/', target: { slots: id } }] }
        })
    : []
  const listeners = listenersOf(deps)
  const isAlways = config.edge === 'caddy' || config.domain !== null
  const isNeeded = isAlways || hosts.length + listeners.length > 0
  const davit = isNeeded ? davitHost(config) : null
  return {
    hosts: [...(davit ? [davitOf(davit, states.get(davit.name))] : []), ...hosts, ...generated],
    listeners,
    authority: config.acme,
    trustedProxies: config.trustedProxies,
  }

  /** Null when it would be served without its HTTPS. */
  function hostOf(name: string, rows: Domain[]): Host | null {
    const first = rows.find(({ path }) => path === '/') ?? rows[0]!
    const https = httpsOf(name, first)
    return https && { name, https, hsts: first.hsts, sites: rows.map(siteOf) }
  }

  function httpsOf(name: string, first: Domain): Https | null {
    if (first.https === 'off') return { kind: 'off' }
    if (first.https === 'auto') return autoHttps(states.get(name))
    const certificate = first.certificate!
    const key = openKey(deps, first)
    if (key === null || foreignName({ host: name, certificate }) !== null) return null
    return { kind: 'own', redirect: true, certificate, key }
  }
}

/**
 * The name of Davit's own pages at the edge: that of DAVIT_URL if the edge is to serve it, else DAVIT_DOMAIN.
 * Null when they are only reached by Davit's port.
 */
export function davitHost({
  url,
  domain,
  edgePorts,
}: Pick<Config, 'url' | 'domain' | 'edgePorts'>) {
  const name = url && canonicalHost(url.hostname)
  if (!name || isIP(name) || !name.includes('.')) return domain ? named(domain) : null
  const isSecure = url.protocol === 'https:'
  const port = Number(url.port) || (isSecure ? 443 : 80)
  if (port === (isSecure ? edgePorts.https : edgePorts.http)) return { name, isSecure }
  return domain ? named(domain) : null
}

const named = (name: string) => ({ name, isSecure: true })

const davitOf = (
  { name, isSecure }: { name: string; isSecure: boolean },
  status: CertificateStatus | undefined,
): Host => ({
  name,
  https: isSecure ? autoHttps(status) : { kind: 'off' },
  sites: [{ path: '/', target: { slots: davitKey } }],
})

export function openKey(
  { secrets }: { secrets: Pick<Secrets, 'open'> },
  { host, certificateKey }: Pick<Domain, 'host' | 'certificateKey'>,
): string | null {
  try {
    return secrets.open(certificateKey!, sealedAs(host))
  } catch {
    return null
  }
}

/** A certificate is requested when the name points to this server, and HTTPS is forced once it exists. */
export const autoHttps = (status: CertificateStatus | undefined): Https => ({
  kind: 'auto',
  mayAsk: status === 'pending' || status === 'issued',
  redirect: status === 'issued',
})

export const sealedAs = (host: string) => `certificate of ${host}`

function siteOf(domain: Domain): Site {
  const { path, protocol, accounts, allowIps, headers, maxBody } = domain
  return {
    path,
    target: targetOf(domain),
    ...(protocol === 'h2c' && { isH2c: true }),
    accounts,
    allow: allowIps,
    headers,
    ...(maxBody !== null && { maxBody: maxBody * 1024 * 1024 }),
  }
}

function targetOf({ id, environmentId, redirectTo, maintenance }: Domain): Site['target'] {
  if (redirectTo !== null) return { redirect: redirectTo }
  if (maintenance) return { page: 'maintenance' }
  return { slots: environmentId ?? id }
}

/** Ports of environments that the edge publishes instead of Docker. */
const listenersOf = (deps: PlanDeps): Listener[] =>
  listEdgePorts(deps.db).map(({ id, port, ownerId }) => ({
    address: placesOf(deps, ownerId).publishAddress,
    port,
    slots: id,
  }))
