import { and, desc, eq, inArray, isNotNull, isNull, lte, ne, notInArray, or } from 'drizzle-orm'
import { withDefaults } from '../db/columns.ts'
import type { Changes } from '../db/columns.ts'
import type { Db, Tx } from '../db/index.ts'
import { changeRow, getRow, hasRow, listPage, listRows } from '../db/queries.ts'
import { isToLoad } from '../db/restored.ts'
import {
  backupPlans,
  backups,
  backupSubjects,
  jobs,
  runStatuses,
  targets,
  volumeHolds,
} from '../db/schema.ts'
import { listRestoresInto } from '../jobs/after-store.ts'
import { endJob, hasJob, listJobsWith, proofsOf } from '../jobs/store.ts'
import type { LogKey } from '../logs/store.ts'
import { found } from '../platform/errors.ts'
import type { User } from '../web/factory.ts'
import type { Page } from '../web/paging.ts'
import type { SubjectKey } from './subject.ts'

export { backupPlans, backupSubjects, runStatuses, volumeHolds }

export type Backup = typeof backups.$inferSelect
export type Plan = typeof backupPlans.$inferSelect
export type BackupStatus = Backup['status']

const active: BackupStatus[] = ['pending', 'running']

export const isEnded = (status: BackupStatus) => !active.includes(status)

const unfinished = inArray(backups.status, active)

/** It has a source of its own, so that it outlives its subject. */
export const logOf = ({ id }: Pick<Backup, 'id'>): LogKey => ({ sourceId: id, logId: id })

export const insertBackup = (db: Tx, values: typeof backups.$inferInsert): Backup =>
  db.insert(backups).values(values).returning().get()

export const getBackup = (db: Tx, id: string) => getRow(db, backups, eq(backups.id, id))

type Owner = Pick<User, 'id' | 'role'>

/** Those of Davit itself have the secrets of all users: who was an admin no longer finds them. */
const ownedBy = ({ id, role }: Owner) =>
  and(eq(backups.ownerId, id), role === 'admin' ? undefined : ne(backups.subjectKind, 'davit'))

export const findBackup = (db: Db, { id, owner }: { id: string; owner: Owner }): Backup =>
  found('backup', getRow(db, backups, and(eq(backups.id, id), ownedBy(owner))))

/** Newest first, with one more row than the page; without those that were removed from their target. */
export const pageOfBackups = (
  db: Db,
  { of, owner, ...page }: { of?: SubjectKey; owner: Owner } & Page,
) =>
  listPage(
    db,
    backups,
    and(
      ownedBy(owner),
      of && and(eq(backups.subjectKind, of.kind), eq(backups.subjectId, of.id)),
      isNull(backups.goneAt),
    ),
    page,
  )

/** Those of the subject that haven’t ended. */
export const listUnfinished = (db: Tx, subjectId: string) =>
  listRows(db, backups, and(eq(backups.subjectId, subjectId), unfinished))

/** Those of the subject that are, or may be, on the target, newest first. */
export const listOn = (db: Tx, of: { subjectId: string; targetId: string }) =>
  listRows(
    db,
    backups,
    and(eq(backups.subjectId, of.subjectId), eq(backups.targetId, of.targetId)),
    desc(backups.id),
  )

/** The newest that succeeded, is still there and isn’t later. */
export function getLastGood(db: Tx, subjectId: string, until?: Date): Backup | null {
  const { status, goneAt, createdAt } = backups
  const isGood = and(eq(backups.subjectId, subjectId), eq(status, 'succeeded'), isNull(goneAt))
  const isInTime = until && lte(createdAt, until)
  return getRow(db, backups, and(isGood, isInTime), desc(backups.id)) ?? null
}

/** Complete, and not removed from its target since. */
export const isStored = ({ status, goneAt }: Pick<Backup, 'status' | 'goneAt'>) =>
  status === 'succeeded' && !goneAt

/** Its volumes, as its subject names them. */
export const volumesIn = ({ files }: Pick<Backup, 'files'>) =>
  files.flatMap(({ volumes = [] }) => volumes)

export const isBeingProven = (db: Tx, id: string) => hasJob(db, proofsOf(id))

/** Ids of jobs that restore it. */
export const listRestores = (db: Tx, { id }: Pick<Backup, 'id'>) =>
  listJobsWith(db, { kind: 'restore', input: id })

export const isBeingRestored = (db: Tx, backup: Pick<Backup, 'id'>) =>
  listRestores(db, backup).length > 0

/** The state of what writes to its log: of itself, then of its test restores and restores. */
export const workOf = (db: Tx, id: string): BackupStatus => {
  const backup = getBackup(db, id)
  if (!backup) return 'cancelled'
  return isEnded(backup.status) && isInUse(db, backup) ? 'running' : backup.status
}

/** A backup that is made before a restore must not let the one that is restored be removed. */
export const isInUse = (db: Tx, backup: Pick<Backup, 'id'>) =>
  isBeingProven(db, backup.id) || isBeingRestored(db, backup) || isToLoad(db, backup.id)

/** True while a restore that it was made before hasn’t ended. */
export const isBeforeRestore = (db: Tx, { id, subjectId }: Pick<Backup, 'id' | 'subjectId'>) =>
  listRestoresInto(db, subjectId).some(({ restore }) => restore?.before === id)

/**
 * When one of the subject’s backups was last proven, whether it is still there or not. One of a clock that was put back
 * since doesn’t count.
 */
export function getProofOf(db: Tx, subjectId: string): Date | null {
  const isProven = and(lte(backups.provenAt, new Date()), isNull(backups.provenError))
  const of = and(eq(backups.subjectId, subjectId), isProven)
  return getRow(db, backups, of, desc(backups.provenAt))?.provenAt ?? null
}

/** Backups whose containers are paused or stopped. */
export const listHolding = (db: Db) => listRows(db, backups, isNotNull(backups.held))

export const setBackup = (db: Tx, id: string, changes: Partial<Backup>) =>
  changeRow(db, backups, id, changes)

/** Also ends its job. Returns false when it has already ended. */
export const endBackup = (
  db: Db,
  id: string,
  end: Partial<Backup> & Pick<Backup, 'status'>,
): boolean =>
  db.transaction((tx) => {
    endJob(tx, id)
    const ended = tx
      .update(backups)
      .set({ ...end, finishedAt: new Date() })
      .where(and(eq(backups.id, id), unfinished))
      .returning({ id: backups.id })
      .get()
    return ended !== undefined
  })

/** Failed, cancelled and removed ones of the subject, except so many of the newest. */
export const listOld = (db: Db, subjectId: string, newest: number) =>
  listRows(
    db,
    backups,
    and(
      eq(backups.subjectId, subjectId),
      or(isNotNull(backups.goneAt), inArray(backups.status, ['failed', 'cancelled'])),
      notInArray(backups.status, active),
    ),
    desc(backups.id),
  ).slice(newest)

export const deleteBackup = (db: Tx, id: string) =>
  db.delete(backups).where(eq(backups.id, id)).run()

export const getPlan = (db: Tx, subjectId: string): Plan | null =>
  getRow(db, backupPlans, eq(backupPlans.subjectId, subjectId)) ?? null

/** One for each subject: another one replaces it. */
export function savePlan(db: Db, { kind, id }: SubjectKey, changes: PlanChanges) {
  const values = { ...withDefaults(backupPlans, changes), problem: null } as PlanValues
  db.insert(backupPlans)
    .values({
      ...{ ...values, subjectKind: kind, subjectId: id },
      environmentId: kind === 'environment' ? id : null,
      serviceId: kind === 'service' ? id : null,
    })
    .onConflictDoUpdate({ target: backupPlans.subjectId, set: values })
    .run()
}

type PlanValues = typeof backupPlans.$inferInsert

/** Null stands for the default. */
type PlanChanges = Changes<typeof backupPlans> & Pick<PlanValues, 'targetId' | 'schedule'>

export const setPlan = (db: Tx, id: string, changes: Partial<Plan>) =>
  changeRow(db, backupPlans, id, changes)

export const deletePlan = (db: Tx, id: string) =>
  db.delete(backupPlans).where(eq(backupPlans.id, id)).run()

export const listPlansOn = (db: Tx, targetId: string) =>
  listRows(db, backupPlans, eq(backupPlans.targetId, targetId))

export const listUnfinishedOn = (db: Tx, targetId: string) =>
  listRows(db, backups, and(eq(backups.targetId, targetId), unfinished))

/** Those on the target that are restored or proven, or are about to be. */
export const listInUseOn = (db: Tx, targetId: string) =>
  listRows(
    db,
    backups,
    and(
      eq(backups.targetId, targetId),
      inArray(
        backups.id,
        db
          .select({ id: jobs.input })
          .from(jobs)
          .where(inArray(jobs.kind, ['restore', 'proof'])),
      ),
    ),
  )

export const hasBackupsOn = (db: Tx, targetId: string) =>
  hasRow(
    db,
    backups,
    and(eq(backups.targetId, targetId), eq(backups.status, 'succeeded'), isNull(backups.goneAt)),
  )

/** Of an owner, those whose target was removed. */
const isLost = (db: Tx, ownerId: string) =>
  and(
    eq(backups.ownerId, ownerId),
    notInArray(
      backups.targetId,
      db.select({ id: targets.id }).from(targets).where(eq(targets.ownerId, ownerId)),
    ),
  )

/** Without what the dumps had, which may be much. */
export const listLost = (db: Tx, ownerId: string) =>
  db
    .select({ id: backups.id, files: backups.files, goneAt: backups.goneAt })
    .from(backups)
    .where(isLost(db, ownerId))
    .all()

/** Those with these ids that are still without a target get this one. Returns how many. */
export const setTargetOfLost = (
  db: Tx,
  ids: string[],
  { id: targetId, ownerId }: { id: string; ownerId: string },
) =>
  db
    .update(backups)
    .set({ targetId })
    .where(and(inArray(backups.id, ids), isLost(db, ownerId)))
    .returning({ id: backups.id })
    .all().length

/** True when the last due time has brought no backup, and none is on its way. */
export function isOverdue(db: Tx, { subjectId, dueAt }: Plan) {
  if (!dueAt || listUnfinished(db, subjectId).length > 0) return false
  const last = getLastGood(db, subjectId)
  const now = new Date()
  const isAhead = last !== null && last.createdAt > now && dueAt <= now // the clock was put back since
  return !last || last.createdAt < dueAt || isAhead
}
