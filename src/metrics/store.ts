import { and, count, eq, inArray, isNotNull, isNull, max, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { listValues } from '../db/queries.ts'
import {
  backupPlans,
  backups,
  deployments,
  domains,
  environments,
  jobs,
  users,
} from '../db/schema.ts'
import { getCertificates } from '../domains/store.ts'

/** Whose apps and services are measured: a user's, or those of all who aren't being deleted. */
export const listOwners = (db: Db, userId: string | null) =>
  db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(userId === null ? isNull(users.deletingAt) : eq(users.id, userId))
    .orderBy(users.id)
    .all()

/** Upper bounds of the durations of deployments, in seconds. */
export const deploymentBounds = [5, 15, 30, 60, 120, 300, 600, 1800, 3600] as const

const started = sql`unixepoch(json_extract(${deployments.steps}, '$[0].startedAt'), 'subsec')`
const seconds = sql<number>`max(0, ${deployments.finishedAt} / 1000.0 - ${started})`
const result = sql<'succeeded' | 'failed' | 'cancelled'>`CASE ${deployments.status}
  WHEN 'failed' THEN 'failed' WHEN 'cancelled' THEN 'cancelled' ELSE 'succeeded' END`

/**
 * Those that began and ended. What ended in the queue isn't counted: many of them are deleted later. Nor is what is
 * watched: it may yet fail, and a count never falls.
 */
export const sumDeployments = (db: Db, environmentIds: string[]) =>
  db
    .select({
      environmentId: deployments.environmentId,
      result,
      count: count(),
      seconds: sql<number>`coalesce(sum(${seconds}), 0)`,
      counts: sql`json_array(${sql.join(
        deploymentBounds.map((bound) => sql`coalesce(sum(${seconds} <= ${bound}), 0)`),
        sql`, `,
      )})`.mapWith((text) => JSON.parse(String(text)) as number[]),
    })
    .from(deployments)
    .where(
      and(
        inArray(deployments.environmentId, environmentIds),
        isNotNull(deployments.finishedAt),
        isNull(deployments.watchUntil),
        ne(deployments.steps, []),
      ),
    )
    .groupBy(deployments.environmentId, result)
    .all()

/** Hosts with their certificates: `own` is a PEM that the user uploaded. Names of Davit's own domain have none of them. */
export function listHosts(
  db: Db,
  { environmentIds, serviceIds }: { environmentIds: string[]; serviceIds: string[] },
  { domain }: { domain: string | null },
) {
  const { environmentId, serviceId, host, certificate } = domains
  const given = db
    .selectDistinct({ environmentId, serviceId, host, own: certificate })
    .from(domains)
    .where(or(inArray(environmentId, environmentIds), inArray(serviceId, serviceIds)))
    .all()
  const named = db
    .select({ environmentId: environments.id, label: environments.label })
    .from(environments)
    .where(and(inArray(environments.id, environmentIds), isNotNull(environments.label)))
    .all()
  const taken = new Set(given.map((one) => one.host))
  const labelled = (domain ? named : []).map(({ environmentId, label }) => ({
    ...{ environmentId, serviceId: null, host: `${label}.${domain}`, own: null },
  }))
  const hosts = [...given, ...labelled.filter((one) => !taken.has(one.host))]
  const known = getCertificates(
    db,
    hosts.map((one) => one.host),
  )
  return hosts.map((one) => ({ ...one, notAfter: known.get(one.host)?.notAfter ?? null }))
}

/** What has a plan; the newest success and proof that still exist, in milliseconds; how the last one ended. */
export function listBackups(db: Db, subjectIds: string[]) {
  const { subjectId, status, finishedAt, provenAt, provenError, goneAt } = backups
  const isOf = inArray(subjectId, subjectIds)
  const proof = sql`CASE WHEN ${provenError} IS NULL THEN ${provenAt} END`
  return {
    plans: listValues(db, backupPlans.subjectId, inArray(backupPlans.subjectId, subjectIds)),
    kept: db
      .select({
        subjectId,
        finishedAt: sql<number | null>`max(${finishedAt})`,
        provenAt: sql<number | null>`max(${proof})`,
      })
      .from(backups)
      .where(and(isOf, eq(status, 'succeeded'), isNull(goneAt)))
      .groupBy(subjectId)
      .all(),
    last: db
      .select({ subjectId, status, id: max(backups.id) }) // of the row with that id, as SQLite defines it for max()
      .from(backups)
      .where(and(isOf, inArray(status, ['succeeded', 'failed'])))
      .groupBy(subjectId)
      .all(),
  }
}

/** By kind and status. Null is for the installation's own. */
export const countJobs = (db: Db, of: { ownerId: string | null } | { subjectIds: string[] }) =>
  db
    .select({ kind: jobs.kind, status: jobs.status, count: count() })
    .from(jobs)
    .where(
      'subjectIds' in of
        ? inArray(jobs.subjectId, of.subjectIds)
        : of.ownerId === null
          ? isNull(jobs.ownerId)
          : eq(jobs.ownerId, of.ownerId),
    )
    .groupBy(jobs.kind, jobs.status)
    .all()
