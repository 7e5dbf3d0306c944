import { AppError, Failure } from '../platform/errors.ts'
import { pause } from '../platform/pause.ts'
import { deleteSome } from '../logs/store.ts'
import type { Db } from '../db/index.ts'
import { hasFailed } from '../db/restored.ts'
import type { BackupDeps } from './deps.ts'
import { backupTag, hasTarget, openRepository } from './repository.ts'
import type { Restic, StoredSnapshot } from './restic/restic.ts'
import { expired } from './restic/retention.ts'
import { deleteBackup, getPlan, isInUse, listOld, listOn, setBackup, setPlan } from './store.ts'
import type { Backup, Plan } from './store.ts'

/** Failed, cancelled and removed backups that are kept of a subject, with their logs. */
const kept = 20

export const tagsOf = (backup: Pick<Backup, 'id' | 'subjectId'>) => [
  'davit',
  `subject=${backup.subjectId}`,
  backupTag(backup),
]

type Options = { signal: AbortSignal }

/** Forgets snapshots of backups that didn’t succeed, or begin again. */
export async function forgetUnfinished(
  { db }: Pick<BackupDeps, 'db'>,
  of: Pick<Backup, 'id' | 'subjectId' | 'targetId'>,
  { restic, signal }: Options & { restic: Restic },
) {
  const listed = await restic.list({ tag: `subject=${of.subjectId}`, signal })
  const left = unfinished(db, of, listed)
  if (left.length > 0) await restic.forget({ snapshots: left, signal })
}

/**
 * Ids of snapshots that no backup needs. Others that the database doesn’t know stay: it may be an older one that
 * was restored.
 */
export function unfinished(
  db: Db,
  { id, subjectId, targetId }: Pick<Backup, 'id' | 'subjectId' | 'targetId'>,
  listed: StoredSnapshot[],
) {
  const isOver = (one: Backup) => one.id === id || one.goneAt || hasFailed(one)
  const over = listOn(db, { subjectId, targetId }).filter(isOver)
  const tags = new Set(over.map(backupTag))
  return listed.filter((one) => one.tags.some((tag) => tags.has(tag))).map((one) => one.id)
}

/**
 * Removes what the plan no longer keeps, unless it is off, and what others left. A failure is the plan’s,
 * unless that has another target, as the backup itself is good; what wasn’t removed then is what is left after the next one.
 */
export async function applyRetention(
  deps: BackupDeps,
  backup: Backup,
  { listed, left, signal }: Options & { listed: StoredSnapshot[]; left: string[] },
) {
  const { db } = deps
  const { subjectId, targetId } = backup
  const planned = getPlan(db, subjectId)
  const plan = planned?.targetId === targetId ? planned : null
  const removed = new Set(plan ? noLongerKept(db, { backup, plan, listed }) : [])
  const isRemoved = ({ goneAt, files }: Backup) =>
    !goneAt && files.some(({ snapshot }) => removed.has(snapshot))
  const goneAt = new Date()
  db.transaction((tx) => {
    for (const { id } of listOn(tx, { subjectId, targetId }).filter(isRemoved))
      setBackup(tx, id, { goneAt })
  })
  try {
    if (removed.size + left.length > 0) {
      await using restic = await openRepository(deps, backup, { inOne: true })
      await restic.forget({ snapshots: [...left, ...removed], signal })
    }
    if (plan?.problem?.reason === 'retention_failed') setPlan(db, plan.id, { problem: null })
  } catch (error) {
    if (signal.aborted || !plan) throw error
    const message = error instanceof Failure ? `${error.message} ${error.hint}` : 'See Davit’s log.'
    const problem = {
      reason: 'retention_failed',
      message: `What isn’t kept any more is still on the target: ${message}`,
    } as const
    setPlan(db, plan.id, { problem })
    throw error
  }
}

function noLongerKept(
  db: Db,
  { backup, plan, listed }: { backup: Backup; plan: Plan; listed: StoredSnapshot[] },
) {
  const { subjectId, targetId } = backup
  const { keepLast: last, keepDaily: daily, keepWeekly: weekly, keepMonthly: monthly } = plan
  if (!plan.nextAt || last + daily + weekly + monthly === 0) return []
  const known = listOn(db, { subjectId, targetId })
  const knownTags = new Set(known.map(backupTag))
  // others may be proven: of a target that was removed, or of another Davit
  const own = listed.filter(({ tags }) => tags.some((tag) => knownTags.has(tag)))
  const inUse = known.filter((one) => isInUse(db, one))
  const there = new Set(listed.map(({ id }) => id))
  const isProven = ({ provenAt, provenError, goneAt, files }: Backup) =>
    provenAt && !provenError && !goneAt && files.every(({ snapshot }) => there.has(snapshot))
  const proven = known.find(isProven) // the newest
  const keepTags = [...inUse, ...(proven ? [proven] : [])].map(backupTag)
  return expired(own, { keep: { last, daily, weekly, monthly }, keepTags, zone: plan.zone })
}

export async function removeOldRows({ db, logDb }: BackupDeps, subjectId: string) {
  for (const backup of listOld(db, subjectId, kept)) await removeRow({ db, logDb }, backup)
}

/** The log is deleted first: one without its backup would stay for an hour. */
async function removeRow({ db, logDb }: Pick<BackupDeps, 'db' | 'logDb'>, { id }: Backup) {
  while (deleteSome(logDb, { sourceId: id, logId: id })) await pause()
  deleteBackup(db, id)
}

/**
 * Removes a backup from its target, then from the list: only from that once the target was removed. Repeatable.
 * Nothing else may begin with it meanwhile.
 */
export async function removeBackup(deps: BackupDeps, backup: Backup, { signal }: Options) {
  deps.removing.add(backup.id)
  try {
    if (hasTarget(deps.db, backup)) {
      const restic = await openRepository(deps, backup)
      await forgetUnfinished(deps, backup, { restic, signal })
    }
    await removeRow(deps, backup)
  } finally {
    deps.removing.delete(backup.id)
  }
}

export function refuseRemoving({ removing }: Pick<BackupDeps, 'removing'>, { id }: Backup) {
  if (removing.has(id))
    throw new AppError('conflict', 'This backup is being deleted. Choose another one.')
}
