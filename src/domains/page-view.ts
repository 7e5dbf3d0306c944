import { placesOf } from '../addresses/places.ts'
import { listDomains, listGivenHosts } from '../addresses/store.ts'
import type { Domain } from '../addresses/store.ts'
import { domainUrl, urlOn } from '../addresses/urls.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { hasPort } from '../environments/processes.ts'
import type { Environment } from '../environments/store.ts'
import { addressOf } from '../services/address.ts'
import { serverOf } from '../services/placement.ts'
import { listPorts } from '../services/store.ts'
import type { CertificateKeeper } from './certificate-keeper.ts'
import { domainsJson, forOwners, leftOut, whyOff } from './json.ts'
import type { ShownDeps, ShownDomain } from './json.ts'
import { holderIn } from './owner.ts'
import type { DomainOwner } from './owner.ts'
import { sslipName } from './public-address.ts'

export type AddressDeps = ShownDeps & { certificates: Pick<CertificateKeeper, 'expected'> }

export type AddressesView = ReturnType<typeof addressesOf>

/** All domains of an environment or a service, for its page. */
export function addressesOf(deps: AddressDeps, of: DomainOwner) {
  const { edge } = deps
  const expected = [...deps.certificates.expected]
  const rows = listDomains(deps.db, holderIn(of))
  const domains = domainsJson(deps, rows, { expected })
  const free = sslipName(labelOf(of), expected)
  return {
    of,
    domains,
    byItself: byItself(deps, of, expected),
    byPort: portOf(deps, of),
    expected,
    /** A suggested name that needs no DNS setup. */
    freeHost: domains.some(({ host }) => host === free) ? null : free,
    off: whyOff(deps),
    trouble: edge.isOn && !edge.rejected.length ? forOwners(edge.trouble) : null,
    rejected: new Map([
      ...edge.rejected.flatMap((one) => ('host' in one ? [[one.host, one.failure] as const] : [])),
      ...leftOut(deps, rows),
    ]),
    redirectOf: (domain: ShownDomain) => redirectOf(deps, domain, domains),
  }
}

/** Its addresses, the primary one first. Null stands for its port. */
export function openAddresses({ domains, byItself, byPort, off }: AddressesView) {
  const names = off ? [] : [...domains, ...(byItself ? [byItself] : [])]
  const own = names.filter(({ redirectTo }) => redirectTo === null)
  return [
    ...own.map((domain) => ({ url: domain.url, domain })),
    ...(byPort ? [{ url: byPort, domain: null }] : []),
  ]
}

const labelOf = (of: DomainOwner) =>
  (of.kind === 'environment' ? of.environment.label : of.service.host) ?? 'app'

function byItself(deps: ShownDeps, of: DomainOwner, expected: string[]): ShownDomain | null {
  const [domain] = of.kind === 'environment' ? ownNames(deps, [of.environment]) : []
  return domain ? domainsJson(deps, [domain], { expected })[0]! : null
}

/** The names of environments under DAVIT_DOMAIN, except where someone was given that host. */
export function ownNames(
  { db, config: { domain } }: { db: Db; config: Pick<Config, 'domain'> },
  environments: Pick<Environment, 'id' | 'label' | 'port' | 'processes'>[],
): Domain[] {
  const named = environments.filter((one) => domain && one.label && hasPort(one))
  const names = named.map(({ id: environmentId, label }) => ({
    ...plain,
    ...{ host: `${label}.${domain}`, environmentId },
  }))
  const hosts = names.map(({ host }) => host)
  const given = new Set(listGivenHosts(db, hosts))
  return names.filter(({ host }) => !given.has(host))
}

/** A domain with default options. */
const plain: Omit<Domain, 'host' | 'environmentId'> = {
  id: '',
  serviceId: null,
  position: 0,
  path: '/',
  component: null,
  port: null,
  protocol: 'http',
  redirectTo: null,
  https: 'auto',
  certificate: null,
  certificateKey: null,
  hsts: false,
  accounts: [],
  allowIps: [],
  headers: {},
  maxBody: null,
  maintenance: false,
  createdAt: new Date(0),
}

function portOf(deps: ShownDeps, of: DomainOwner) {
  if (of.kind === 'service')
    return addressOf(
      placesOf(deps, of.service.ownerId, serverOf(of.service)),
      listPorts(deps.db, of.service.id),
    )
  const { environment, project } = of
  return hasPort(environment) ? urlOn(environment.hostPort, placesOf(deps, project.ownerId)) : null
}

/** The missing one of `example.com` and `www.example.com`; null when both exist. */
function redirectOf(deps: ShownDeps, domain: ShownDomain, domains: ShownDomain[]) {
  const { host, redirectTo, path } = domain
  if (redirectTo !== null || path !== '/') return null
  const other = host.startsWith('www.')
    ? host.slice('www.'.length)
    : host.split('.').length === 2
      ? `www.${host}`
      : null
  if (!other?.includes('.') || domains.some((one) => one.host === other)) return null
  return { host: other, to: domainUrl(deps, domain, { isIntended: true }) }
}
