import { findUser } from '../accounts/store.ts'
import type { Db, Tx } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { listToLoad } from '../db/restored.ts'
import type { PlanProblem } from '../db/schema.ts'
import { keepDue } from '../jobs/due.ts'
import type { Timed } from '../jobs/due.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { backupsOf, insertJob, listJobsOf } from '../jobs/store.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { noteOverdue } from './notice.ts'
import { backupPlans, getPlan, insertBackup, isOverdue, listUnfinished, setPlan } from './store.ts'
import type { Backup } from './store.ts'
import { subjectOf } from './subject.ts'
import type { Subject } from './subject.ts'
import { getTarget } from './targets/store.ts'

type Start = {
  subject: Subject
  by: string
  targetId: string
  /** By default that of its plan. */
  hold?: Backup['hold'] | null | undefined
}

/** Stores a backup and its job; wake the jobs after the commit. */
export function insertBackupJob(db: Db, { subject, by, targetId, hold }: Start): Backup {
  const { id: subjectId, kind: subjectKind, name: subjectName, ownerId } = subject
  const id = newId()
  return db.transaction(() => {
    // half of a restore must not be stored
    const restore = listJobsOf(db, subjectId).find(({ kind }) => kind === 'restore')
    // one at a time: another one waits for its end
    insertJob(db, {
      ...{ id, kind: 'backup', subjectId: backupsOf(subjectId), ownerId, slot: 'backup' },
      after: restore?.id,
    })
    return insertBackup(db, {
      ...{ id, ownerId, subjectKind, subjectId, subjectName, targetId, startedBy: by },
      hold: hold ?? getPlan(db, subjectId)?.hold ?? 'pause',
    })
  })
}

/** Backs up what is due by its plan, until the signal. */
export const keepPlans = (
  deps: { db: Db; jobs: Jobs; scheduler: Scheduler },
  { signal }: { signal: AbortSignal },
) => keepDue(deps, timed(deps), { signal })

/** What was missed while Davit was down is made up for once. */
export const timed = ({ db, jobs }: { db: Db; jobs: Jobs }): Timed<typeof backupPlans> => ({
  table: backupPlans,
  begin(plan) {
    const { targetId } = plan
    const subject = subjectOf(db, plan)
    if (!subject) return null
    const problem = problemOf(db, { subject, targetId })
    // who disabled the owner of an app or service stopped its backups too; those of Davit are for all
    const isMeant = subject.kind !== 'davit' && problem?.reason === 'owner_disabled'
    if (!isMeant && (problem || isOverdue(db, plan))) noteOverdue(db, subject, { problem })
    if (problem) return { problem }
    insertBackupJob(db, { subject, targetId, by: 'plan' })
    return { after: () => jobs.wake() }
  },
  failed: 'a planned backup was not started',
})

function problemOf(
  db: Db,
  { subject, targetId }: { subject: Subject; targetId: string },
): PlanProblem | null {
  const owner = findUser(db, subject.ownerId)
  if (owner.disabledAt || (subject.kind === 'davit' && owner.role !== 'admin'))
    return problems.ownerDisabled
  if (!getTarget(db, { id: targetId, ownerId: subject.ownerId })) return problems.targetMissing
  if (listToLoad(db).some(({ subjectId }) => subjectId === subject.id)) return problems.loading
  return listUnfinished(db, subject.id).length > 0 ? problems.overlap : null
}

/**
 * Turns off the plan of what lacks its data after a restore of the whole server: its backups would take the place of
 * those that have the data. Its owner is told. False without a plan.
 */
export function turnPlanOff(db: Tx, subject: Subject): boolean {
  const plan = getPlan(db, subject.id)
  if (!plan) return false
  const problem = problems.notRestored
  setPlan(db, plan.id, { nextAt: null, problem })
  noteOverdue(db, subject, { problem })
  return true
}

const problems = {
  ownerDisabled: {
    reason: 'owner_disabled',
    message: 'It was skipped: the account of its owner is disabled, or no longer an admin’s.',
  },
  targetMissing: {
    reason: 'target_missing',
    message: 'It could not begin, because its target was removed. Choose another one.',
  },
  loading: {
    reason: 'overlap',
    message: 'It was skipped, because the databases are being restored.',
  },
  overlap: {
    reason: 'overlap',
    message: 'It was skipped, because the backup before had not ended.',
  },
  notRestored: {
    reason: 'not_restored',
    message:
      'Its data didn’t come back with the server, and new backups would take the place of those that have it. Restore one of them, then save the plan.',
  },
} satisfies Record<string, PlanProblem>
