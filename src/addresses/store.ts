import { and, asc, count, eq, inArray, isNotNull, isNull, like, or, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { Config } from '../config.ts'
import type { Db, Tx } from '../db/index.ts'
import { getRow, hasRow, listRows, listValues } from '../db/queries.ts'
import {
  certificates,
  domains,
  environments,
  previews,
  projects,
  releases,
  servicePorts,
  services,
  workloads,
} from '../db/schema.ts'
import { AppError, conflictField, invalidField } from '../platform/errors.ts'
import { refuseMore } from '../platform/limits.ts'
import { isNameOfOther } from './certificate-names.ts'
import { isDavits } from './hosts.ts'

export { appProtocols, httpsKinds } from '../db/schema.ts'

export type Domain = typeof domains.$inferSelect

export type Holder = { environmentId: string } | { serviceId: string }

export const listServicePorts = (db: Db) => listValues(db, servicePorts.port)

export const listHostPorts = (db: Db) => listValues(db, environments.hostPort)

/** In their order: the first one is the holder's primary address. */
export const listDomains = (db: Tx, holder: Holder): Domain[] =>
  listRows(db, domains, heldBy(holder), asc(domains.position), asc(domains.id))

/** All owners' domains, oldest first. */
export const listAllDomains = (db: Tx): Domain[] =>
  listRows(db, domains, undefined, asc(domains.id))

/** Each host once, in the order of the domains. */
export const listHosts = (db: Tx, holder: Holder) => [
  ...new Set(listDomains(db, holder).map(({ host }) => host)),
]

const heldBy = (holder: Holder): SQL =>
  'environmentId' in holder
    ? eq(domains.environmentId, holder.environmentId)
    : eq(domains.serviceId, holder.serviceId)

/** The settings with Davit's own names. */
type WithNameConfig = { config: Pick<Config, 'url' | 'domain'> }

/**
 * Call it in a transaction. Sets the owner's hosts in this order; existing ones keep their options. Throws
 * `conflict` for one that someone else has.
 */
export function setHosts(
  tx: Tx,
  holder: Holder,
  { hosts, ...naming }: { hosts: string[] } & WithNameConfig,
) {
  const wanted = [...new Set(hosts)]
  const had = listDomains(tx, holder)
  for (const row of had)
    if (!wanted.includes(row.host)) tx.delete(domains).where(eq(domains.id, row.id)).run()
  for (const [position, host] of wanted.entries()) {
    const kept = had.filter((row) => row.host === host)
    if (kept.length > 0)
      tx.update(domains)
        .set({ position })
        .where(and(eq(domains.host, host), heldBy(holder)))
        .run()
    else insertDomain(tx, holder, { host, position }, { ...naming, field: 'domains' })
  }
}

type DomainValues = Omit<
  typeof domains.$inferInsert,
  'environmentId' | 'serviceId' | 'position' | keyof HostOptions
> & { position?: number }

const mostOfOne = 50

/**
 * Call it in a transaction. Appends to the owner's domains. Throws `conflict` when someone else has the host,
 * its path is taken, or there are too many. Another path of a host shares its HTTPS.
 */
export function insertDomain(
  tx: Tx,
  holder: Holder,
  values: DomainValues,
  { field = 'host', ...naming }: { field?: string } & WithNameConfig,
): Domain {
  const { host, path = '/' } = values
  refuseTaken(tx, holder, { host, path, field, ...naming })
  const own = listDomains(tx, holder)
  if (own.length >= mostOfOne)
    throw new AppError('conflict', `This has ${mostOfOne} domains, the maximum. Remove one first.`)
  refuseMore('domains', sumDomains(tx, ownerOf(tx, holder)!).count)
  const [twin] = listOfHost(tx, host)
  const position = (own.at(-1)?.position ?? -1) + 1
  return tx
    .insert(domains)
    .values({ position, ...values, ...holder, ...(twin && hostOptionsOf(twin)) })
    .returning()
    .get()
}

/** All paths of a host share these. */
type HostOptions = Pick<Domain, 'https' | 'certificate' | 'certificateKey' | 'hsts'>

export const hostOptionsOf = ({
  https,
  certificate,
  certificateKey,
  hsts,
}: HostOptions): HostOptions => ({ https, certificate, certificateKey, hsts })

/** Call it in a transaction. */
export const setHostOptions = (tx: Tx, host: string, options: HostOptions) =>
  tx.update(domains).set(options).where(eq(domains.host, host)).run()

/** Oldest first. */
export const listOfHost = (tx: Tx, host: string): Domain[] =>
  listRows(tx, domains, eq(domains.host, host), asc(domains.id))

/**
 * Throws when a host isn't available: it belongs to one owner, who may have several paths of it, and an
 * environment's name under DAVIT_DOMAIN belongs to that environment. `id` is the domain that is being
 * changed.
 */
export function refuseTaken(
  tx: Tx,
  holder: Holder,
  {
    host,
    path,
    config,
    field = 'host',
    id = '',
  }: { host: string; path: string; field?: string; id?: string } & WithNameConfig,
) {
  if (isDavits(host, config)) throw invalidField(field, `${host} is Davit’s own name.`)
  const others = listOfHost(tx, host).filter((other) => other.id !== id)
  if (others.length >= mostOfOne)
    throw conflictField(field, `${host} has ${mostOfOne} paths, the maximum. Remove one first.`)
  const isSame = (other: string) => other.toLowerCase() === path.toLowerCase() // as Caddy compares
  const owner = ownerOf(tx, holder)
  if (others.some((other) => ownerOf(tx, holderOf(other)) !== owner))
    throw conflictField(
      field,
      `${host} is already in use by someone else on this server. Use another name, or ask them to remove it.`,
    )
  const same = others.find((other) => isSame(other.path))
  if (same)
    throw conflictField(
      field,
      `${host}${path === '/' ? '' : path} already leads to ${nameOf(tx, holderOf(same))}. Remove it there first, or use another name or path.`,
    )
  if (isNameOfOther(tx, { host, ownerId: owner }))
    throw conflictField(field, `${host} is covered by the certificate of someone else’s domain.`)
  const { domain } = config
  if (!domain?.length || !host.endsWith(`.${domain}`)) return
  const label = host.slice(0, -domain.length - 1)
  const [labelled] = listValues(tx, environments.id, eq(environments.label, label))
  const isOwn = 'environmentId' in holder && labelled === holder.environmentId
  if (labelled && !isOwn) throw conflictField(field, `${host} is the name of another app.`)
  const above = label.slice(label.lastIndexOf('.') + 1) // it could set cookies for this one
  const [other] = listValues(tx, environments.id, eq(environments.label, above))
  if (other && ownerOf(tx, { environmentId: other }) !== owner)
    throw conflictField(field, `${host} is below the name of another app.`)
}

export const holderOf = ({ environmentId, serviceId }: Domain): Holder =>
  environmentId ? { environmentId } : { serviceId: serviceId! }

/** The user to whom an environment or a service belongs. */
const ownerOf = (tx: Tx, holder: Holder) =>
  'environmentId' in holder
    ? projectOf(tx, holder)?.ownerId
    : listValues(tx, services.ownerId, eq(services.id, holder.serviceId))[0]

/** As its owner knows it: `Shop / production`, or the name of a service. */
function nameOf(tx: Tx, holder: Holder) {
  if ('serviceId' in holder)
    return listValues(tx, services.name, eq(services.id, holder.serviceId))[0]
  const { project, environment } = projectOf(tx, holder)!
  return `${project} / ${environment}`
}

const projectOf = (tx: Tx, { environmentId }: { environmentId: string }) =>
  tx
    .select({ ownerId: projects.ownerId, project: projects.name, environment: environments.name })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(eq(environments.id, environmentId))
    .get()

/** Call it in a transaction, after a change. Throws `conflict` when the owner's options are too long. */
export const refuseMoreSettings = (tx: Tx, holder: Holder) =>
  refuseMore('domainSettings', sumDomains(tx, ownerOf(tx, holder)!).size)

const { accounts, allowIps, headers, certificate, certificateKey, redirectTo } = domains
const size = sql.join(
  [accounts, allowIps, headers, certificate, certificateKey, redirectTo].map(
    (column) => sql`coalesce(length(${column}), 0)`,
  ),
  sql` + `,
)

/** Includes all environments and services of a user. */
const sumDomains = (tx: Tx, ownerId: string) =>
  tx
    .select({ count: count(), size: sql<number>`coalesce(sum(${size}), 0)` })
    .from(domains)
    .leftJoin(environments, eq(environments.id, domains.environmentId))
    .leftJoin(projects, eq(projects.id, environments.projectId))
    .leftJoin(services, eq(services.id, domains.serviceId))
    .where(or(eq(projects.ownerId, ownerId), eq(services.ownerId, ownerId)))
    .get()!

/** Strangers make previews of forks, and each name gets a certificate. */
const isWanted = or(sql`${previews.isFork} IS NOT TRUE`, isNotNull(previews.approvedCommit))

/** Environments with a name under DAVIT_DOMAIN, oldest first. Previews of forks only once they were approved. */
export const listLabelled = (db: Tx) =>
  db
    .select({ id: environments.id, label: environments.label })
    .from(environments)
    .leftJoin(previews, eq(previews.environmentId, environments.id))
    .where(and(isNotNull(environments.label), isWanted))
    .orderBy(asc(environments.id))
    .all()
    .map(({ id, label }) => ({ id, label: label! }))

/** Environments whose port the edge publishes, for their live release. */
export const listEdgePorts = (db: Tx) =>
  db
    .select({ id: environments.id, port: environments.hostPort, ownerId: projects.ownerId })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .innerJoin(workloads, eq(workloads.id, environments.id))
    .innerJoin(releases, eq(releases.id, workloads.liveReleaseId))
    .where(and(eq(releases.edge, true), isComingByEdge(db)))
    .all()

/** A release whose port Docker publishes can't start while the edge listens on it. */
const isComingByEdge = (db: Tx) => {
  const byEdge = db.select({ id: releases.id }).from(releases).where(eq(releases.edge, true))
  return or(isNull(workloads.nextReleaseId), inArray(workloads.nextReleaseId, byEdge))
}

/** Only hosts with automatic HTTPS have one. */
export const listCertificates = (db: Tx) => listRows(db, certificates, undefined)

/** When the certificate of each host ends that has one. */
export const listIssued = (db: Tx) =>
  new Map(
    listRows(db, certificates, eq(certificates.status, 'issued')).flatMap(({ host, notAfter }) =>
      notAfter ? [[host, notAfter.getTime()] as const] : [],
    ),
  )

export const isIssued = (db: Tx, host: string) =>
  hasRow(db, certificates, and(eq(certificates.host, host), eq(certificates.status, 'issued')))

/** True when a host was looked up, and isn't in the DNS. */
export function isMissing(tx: Tx, host: string) {
  const known = getRow(tx, certificates, eq(certificates.host, host))
  return known?.dnsOk === false && known.dnsFound.length === 0
}

export const listGivenHosts = (db: Tx, hosts: string[]) =>
  listValues(db, domains.host, inArray(domains.host, hosts))

export const hasHostBelow = (db: Tx, host: string) =>
  hasRow(db, domains, like(domains.host, `%.${host}`))

export const hasLabel = (db: Tx, label: string) =>
  hasRow(db, environments, eq(environments.label, label))

/** Environments of one project or all, with the parts of their names, oldest first. */
export const listNamed = (db: Db, projectId?: string) =>
  db
    .select({
      id: environments.id,
      label: environments.label,
      project: projects.name,
      environment: environments.name,
    })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(projectId === undefined ? undefined : eq(projects.id, projectId))
    .orderBy(asc(environments.id))
    .all()

export const setLabel = (db: Db, id: string, label: string | null) =>
  db.update(environments).set({ label }).where(eq(environments.id, id)).run()
