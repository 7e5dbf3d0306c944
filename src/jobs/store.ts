import { and, asc, eq, inArray, isNull, notExists, notInArray, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Tx } from '../db/index.ts'
import { getRow, hasRow, listRows, listValues } from '../db/queries.ts'
import { jobs } from '../db/schema.ts'

export { jobKinds } from '../db/schema.ts'

export type Job = typeof jobs.$inferSelect
export type Slot = NonNullable<Job['slot']>

/** Call it in the transaction that stores its subject, and `wake` after the commit. */
export const insertJob = (
  db: Tx,
  job: Pick<
    typeof jobs.$inferInsert,
    'id' | 'kind' | 'subjectId' | 'ownerId' | 'slot' | 'input' | 'after'
  >,
): Job => db.insert(jobs).values(job).returning().get()

/** The subject of a workload’s backups, which hold up none of its other jobs. */
export const backupsOf = (workloadId: string) => `backups of ${workloadId}`

/** The subject of the test restores of a backup. */
export const proofsOf = (backupId: string) => `proofs of ${backupId}`

export const getJob = (db: Tx, id: string): Job | undefined => getRow(db, jobs, eq(jobs.id, id))

/** Ids of all queued or running jobs on these subjects or for that owner. */
export const listJobIds = (db: Tx, of: { subjectIds: string[] } | { ownerId: string }) =>
  listValues(
    db,
    jobs.id,
    'ownerId' in of ? eq(jobs.ownerId, of.ownerId) : inArray(jobs.subjectId, of.subjectIds),
  )

export const getJobOf = (db: Tx, subjectId: string): Job | undefined =>
  getRow(db, jobs, eq(jobs.subjectId, subjectId), asc(jobs.id))

export const listJobsOf = (db: Tx, subjectId: string): Job[] =>
  listRows(db, jobs, eq(jobs.subjectId, subjectId), asc(jobs.id))

export const listJobsWith = (db: Tx, { kind, input }: Pick<Job, 'kind' | 'input'>) =>
  listValues(db, jobs.id, and(eq(jobs.kind, kind), eq(jobs.input, input ?? '')))

export const hasJob = (db: Tx, subjectId: string) => getJobOf(db, subjectId) !== undefined

export const hasJobOfKind = (db: Tx, kind: Job['kind']) => hasRow(db, jobs, eq(jobs.kind, kind))

/** Of one subject, those of a kind start in the order in which they were queued; their ids may be older than that. */
export function listStartable(db: Tx): Job[] {
  const isRunning = eq(jobs.status, 'running')
  const busy = db.select({ id: jobs.subjectId }).from(jobs).where(isRunning)
  const left = db.select({ id: jobs.id }).from(jobs)
  const isFree = or(isNull(jobs.after), notInArray(jobs.after, left))
  const isOlder = sql`${earlier}.rowid < ${jobs}.rowid`
  const isSame = and(eq(earlier.subjectId, jobs.subjectId), eq(earlier.kind, jobs.kind))
  const isNext = notExists(db.select({ id: earlier.id }).from(earlier).where(and(isSame, isOlder)))
  return listRows(
    db,
    jobs,
    and(isStartable, notInArray(jobs.subjectId, busy), isFree, isNext),
    asc(jobs.id),
  )
}

const earlier = alias(jobs, 'earlier')

export function listUnsettled(db: Tx): Job[] {
  const isUnsettled = or(eq(jobs.status, 'running'), eq(jobs.cancelRequested, true))
  return listRows(db, jobs, isUnsettled, asc(jobs.id))
}

export const claimJob = (db: Tx, id: string): Job | undefined =>
  db
    .update(jobs)
    .set({ status: 'running', attempt: sql`${jobs.attempt} + 1` })
    .where(and(eq(jobs.id, id), isStartable))
    .returning()
    .get()

const isStartable = and(eq(jobs.status, 'waiting'), eq(jobs.cancelRequested, false))

/** Requeues it. An end by Davit's stop doesn't count as an attempt, a crash does. */
export const requeueJob = (
  db: Tx,
  id: string,
  { slot, isAttempt }: { slot: Job['slot'] | undefined; isAttempt: boolean },
) =>
  db
    .update(jobs)
    .set({ status: 'waiting', slot, ...(!isAttempt && { attempt: sql`max(0, attempt - 1)` }) })
    .where(eq(jobs.id, id))
    .run()

/** Call it when a job got far enough that its starts don't count as crashes. */
export const forgetAttempts = (db: Tx, id: string) =>
  db.update(jobs).set({ attempt: 0 }).where(eq(jobs.id, id)).run()

/** Marks them as cancelled, so that they end even if this process is killed before. */
export const requestCancel = (db: Tx, ids: string[]) =>
  db.update(jobs).set({ cancelRequested: true }).where(inArray(jobs.id, ids)).run()

/** Call it in the transaction that stores its outcome. */
export const endJob = (db: Tx, id: string) => db.delete(jobs).where(eq(jobs.id, id)).run()

export const endJobs = (db: Tx, ids: string[]) => db.delete(jobs).where(inArray(jobs.id, ids)).run()
