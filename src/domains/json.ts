import { z } from 'zod'
import { componentOf, id, shown, time, nothing, does, lists, creates } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { certificateStatuses } from './store.ts'
import { appProtocols, httpsKinds } from '../addresses/store.ts'
import { foreignNames } from '../addresses/certificate-names.ts'
import { isDavits } from '../addresses/hosts.ts'
import { openKey } from '../addresses/plan.ts'
import type { Domain } from '../addresses/store.ts'
import { domainUrl } from '../addresses/urls.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { Edge } from '../edge/edge.ts'
import { cannotRun } from '../edge/mode.ts'
import { Failure } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { usualTarget } from '../runtime/routing-store.ts'
import { ofImage } from '../services/compose/template.ts'
import { describeOwn } from './certificate-own.ts'
import { getCertificates } from './store.ts'
import type { Certificate } from './certificate-store.ts'

export const domain = componentOf('Domain', () => ({
  id,
  environmentId: id.nullable(),
  serviceId: id.nullable(),
  host: z.string(),
  path: z.string(),
  url: z.url(),
  /** The component of a service and its port; null until the image is known. */
  target: z.string().nullable(),
  /** The protocol between edge and app: h2c is HTTP/2 without TLS. */
  protocol: z.enum(appProtocols),
  redirectTo: z.url().nullable(),
  https: z.enum(httpsKinds),
  hsts: z.boolean(),
  /** The addresses that its name should resolve to, and does; `ok` is null when unknown. */
  dns: z.object({
    expected: z.array(z.string()),
    found: z.array(z.string()),
    ok: z.boolean().nullable(),
    checkedAt: time.nullable(),
  }),
  certificate: z
    .object({
      issuer: z.string().nullable(),
      notAfter: time.nullable(),
      status: z.enum(certificateStatuses),
      error: z.object({ message: z.string(), hint: z.string().nullable() }).nullable(),
      /** The next request after a failure. */
      nextTryAt: time.nullable(),
    })
    .nullable(),
  /** Without passwords. */
  basicAuth: z.array(z.object({ username: z.string() })),
  allowIps: z.array(z.string()),
  headers: z.record(z.string(), z.string()),
  maxBody: z.int().nullable(),
  maintenance: z.boolean(),
  /** The reason why it isn't served correctly. */
  error: z.object({ code: z.string(), message: z.string(), hint: z.string() }).nullable(),
  createdAt: time,
}))

export type ShownDeps = {
  db: Db
  config: Config
  secrets: Pick<Secrets, 'open'>
  edge: Pick<Edge, 'isOn' | 'mode' | 'trouble' | 'rejected'>
}

export type ShownDomain = ReturnType<typeof domainJson>

/** For the API and pages: without passwords, hashes and keys. */
export function domainsJson(
  deps: ShownDeps,
  domains: Domain[],
  { expected }: { expected: string[] },
): ShownDomain[] {
  const known = getCertificates(
    deps.db,
    domains.map(({ host }) => host),
  )
  return domains.map((domain) =>
    domainJson(deps, domain, { known: known.get(domain.host), expected }),
  )
}

function domainJson(
  deps: ShownDeps,
  row: Domain,
  { known, expected }: { known: Certificate | undefined; expected: string[] },
) {
  return shown(domain, {
    ...row,
    url: domainUrl(deps, row),
    target: targetOf(deps, row),
    dns: {
      expected,
      found: known?.dnsFound ?? [],
      ok: known?.dnsOk ?? null,
      checkedAt: known?.checkedAt ?? null,
    },
    certificate: certificateOf(deps, row, known),
    basicAuth: row.accounts.map(({ username }) => ({ username })),
    error: errorOf(deps, row),
  })
}

/** Only for services: an environment has a single target. */
function targetOf(deps: ShownDeps, { serviceId, component, port }: Domain) {
  const target =
    serviceId && (component && port ? { component, port } : usualTarget(deps.db, serviceId))
  return target && target.port !== ofImage ? `${target.component}:${target.port}` : null
}

/** Null when none is requested, or nothing is known yet. */
function certificateOf(
  { config }: ShownDeps,
  { https, certificate }: Domain,
  known: Certificate | undefined,
) {
  if (https === 'off') return null
  if (https === 'own') {
    const own = { ...describeOwn(certificate!), nextTryAt: null }
    return config.edge === 'external' ? { ...own, error: notOfYourCaddy } : own
  }
  if (!known) return null
  const { issuer, notAfter, status, errorMessage: message, errorHint: hint, nextTryAt } = known
  return { issuer, notAfter, status, error: message === null ? null : { message, hint }, nextTryAt }
}

/** For a certificate uploaded while Davit's own Caddy served. */
const notOfYourCaddy = {
  message: 'Your own Caddy serves this domain, and doesn’t use the uploaded certificate.',
  hint: 'Add the certificate to the settings of your Caddy, and choose automatic HTTPS here.',
}

/** Why a host isn't served correctly; null when it is, as far as known. */
function errorOf(deps: ShownDeps, domain: Domain) {
  const { edge, config } = deps
  const isOthers = edge.rejected.some(({ failure }) => failure === edge.trouble)
  const failure =
    whyLeftOut(deps, domain) ?? (isOthers ? null : forOwners(edge.trouble)) ?? offBySetting(config)
  return failure && { code: failure.code, message: failure.message, hint: failure.hint }
}

/** These failures quote Caddy or the system, and so may name others' hosts, and files of the server. */
const quoting = new Set(['edge_refused', 'edge_failed', 'edge_closed'])

/** Owners only see part of a failure of Caddy as a whole; an admin sees all of it in the settings. */
export const forOwners = (trouble: Failure | null) =>
  trouble && quoting.has(trouble.code)
    ? new Failure(
        trouble.code,
        'Caddy has a problem. Ask an admin to look at it.',
        'Admins find the details under Settings, Edge.',
      )
    : trouble

/** Why it isn't served although others are; null when it is. */
function whyLeftOut(deps: ShownDeps, domain: Domain): Failure | null {
  const { host, https } = domain
  if (isDavits(host, deps.config))
    return new Failure(
      'domain_of_davit',
      `${host} is used by Davit itself, so it can’t point to an app.`,
      'Use another name.',
    )
  if (https === 'own' && openKey(deps, domain) === null)
    return new Failure(
      'key_unreadable',
      `${host} isn’t served, because the private key of its certificate can no longer be read.`,
      'Enter the certificate and its key again, or start Davit with the DAVIT_SECRET_KEY it had before.',
    )
  const foreign =
    https === 'own' &&
    foreignNames(deps.db, deps.config)({ host, certificate: domain.certificate! })
  if (foreign)
    return new Failure(
      'certificate_of_others',
      `${host} isn’t served, because its certificate is also for ${foreign}, which isn’t yours.`,
      'Upload one for your own names, or choose automatic HTTPS.',
    )
  const own = deps.edge.rejected.find((one) => 'host' in one && one.host === host)
  return own?.failure ?? null
}

/** Of the domains that aren't served although others are, by host. */
export const leftOut = (deps: ShownDeps, domains: Domain[]) =>
  new Map(
    domains.flatMap((domain) => {
      const why = whyLeftOut(deps, domain)
      return why ? [[domain.host, why] as const] : []
    }),
  )

/** Why no names are served, although they could be; null when they are. */
export const whyOff = ({ edge, config }: Pick<ShownDeps, 'edge' | 'config'>) =>
  edge.isOn ? null : (forOwners(edge.trouble) ?? offBySetting(config))

/** Null when names can be served. */
const offBySetting = ({ edge }: Pick<Config, 'edge'>) =>
  edge === 'direct'
    ? cannotRun('DAVIT_EDGE is direct', 'Set DAVIT_EDGE=auto and restart Davit.')
    : null

export const operations: SliceOperations = () => ({
  Domains: {
    'GET /envs/:envId/domains': lists('List the domains of an environment', domain()),
    'POST /envs/:envId/domains': creates('Add a domain to an environment', domain()),
    'GET /services/:id/domains': lists('List the domains of a service', domain()),
    'POST /services/:id/domains': creates('Add a domain to a service', domain()),
    'GET /domains/:id': does('Get a domain', domain()),
    'PUT /domains/:id': does(
      'Change a domain; a user name without a password keeps the one it has',
      domain(),
    ),
    'DELETE /domains/:id': does('Delete a domain', nothing),
    'POST /domains/:id/check': does('Check its DNS again, and request its certificate', domain()),
  },
})
