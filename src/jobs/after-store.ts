import { and, eq } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { getRow } from '../db/queries.ts'
import { backups, jobs } from '../db/schema.ts'
import { Failure } from '../platform/errors.ts'

/** Lets a job wait for the end of another. Call it in the transaction that inserts it. */
export const setAfter = (db: Tx, id: string, after: string) =>
  db.update(jobs).set({ after }).where(eq(jobs.id, id)).run()

/** The backups whose restores into a service or environment wait or run. */
export const listRestoresInto = (db: Tx, subjectId: string) =>
  db
    .select({ files: backups.files, contents: backups.contents, restore: backups.restore })
    .from(jobs)
    .innerJoin(backups, eq(backups.id, jobs.input))
    .where(and(eq(jobs.kind, 'restore'), eq(jobs.subjectId, subjectId)))
    .all()

/** True from when its data may be partly replaced, also while Davit is to begin that restore again. */
export const mayBeHalfRestored = (db: Tx, subjectId: string) =>
  listRestoresInto(db, subjectId).some(({ restore }) => restore?.status === 'running')

/** Throws unless the backup that a job waited for has succeeded. */
export function refuseWithoutBackup(db: Db, id: string) {
  const backup = getRow(db, backups, eq(backups.id, id)) // undefined once it was deleted
  if (backup?.status === 'succeeded') return
  const why = backup?.errorMessage ?? 'It was cancelled.'
  throw new Failure(
    'backup_failed',
    `Nothing was changed, as the backup before it failed: ${why}`,
    'Make a backup that succeeds, or go on without one.',
  )
}
