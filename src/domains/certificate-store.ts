import { and, asc, desc, eq, inArray, isNotNull, isNull, lte, or } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { getRow, listRows, listValues } from '../db/queries.ts'
import { certificates, domains, environments } from '../db/schema.ts'
import { minute } from './certificate-times.ts'

export type Certificate = typeof certificates.$inferSelect

/** Undefined before the host's first check. */
export const findCertificate = (db: Db, host: string) =>
  getRow(db, certificates, eq(certificates.host, host))

export const setCertificate = (db: Db, host: string, values: Partial<Certificate>) =>
  db.update(certificates).set(values).where(eq(certificates.host, host)).run()

/** What a host leads to; empty for an automatic name, and for Davit's own. */
export const getHostPlace = (db: Db, host: string) =>
  db
    .select({
      environmentId: domains.environmentId,
      serviceId: domains.serviceId,
      projectId: environments.projectId,
    })
    .from(domains)
    .leftJoin(environments, eq(environments.id, domains.environmentId))
    .where(eq(domains.host, host))
    .orderBy(asc(domains.id))
    .limit(1)
    .get() ?? { environmentId: null, serviceId: null, projectId: null }

/** Creates rows for these hosts. Others are removed unless their failures still count. */
export function keepCertificates(db: Db, hosts: ReadonlySet<string>, now: Date) {
  const known = new Set(listValues(db, certificates.host))
  for (const host of hosts) if (!known.has(host)) db.insert(certificates).values({ host }).run()
  const isOver = or(isNull(certificates.nextTryAt), lte(certificates.nextTryAt, now))
  const gone = [...known].filter((host) => !hosts.has(host))
  if (gone.length > 0)
    db.delete(certificates)
      .where(and(inArray(certificates.host, gone), or(eq(certificates.failures, 0), isOver)))
      .run()
}

/** Maximum milliseconds until a check. */
export const longestWait = 7 * 86_400_000

/** Due is also what was stored while the clock was ahead: what waits for longer, or was checked at a time to come. */
export function listByTime(db: Db, now: Date) {
  const rows = listRows(db, certificates, undefined, asc(certificates.nextTryAt))
  const last = new Date(now.getTime() + longestWait)
  const soon = new Date(now.getTime() + minute)
  const isDue = ({ nextTryAt, checkedAt }: Certificate) =>
    nextTryAt === null ||
    nextTryAt <= now ||
    nextTryAt > last ||
    (checkedAt !== null && checkedAt > soon && nextTryAt > checkedAt)
  const next = rows.find((row) => !isDue(row))?.nextTryAt ?? null
  return { due: rows.filter(isDue), next }
}

/** Those with a problem, the newest check first. */
export const listTroubled = (db: Db) =>
  listRows(db, certificates, isNotNull(certificates.errorMessage), desc(certificates.checkedAt))

/** Requests of the last process are checked soon; a host that fails often keeps its time. */
export const resumePending = (db: Db) =>
  db
    .update(certificates)
    .set({ nextTryAt: null })
    .where(and(eq(certificates.status, 'pending'), lte(certificates.failures, 3)))
    .run()
