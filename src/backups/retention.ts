import { Failure } from '../platform/errors.ts'
import { pause } from '../platform/pause.ts'
import { deleteSome } from '../logs/store.ts'
import type { BackupDeps } from './deps.ts'
import { openRepository } from './repository.ts'
import type { Restic } from './restic/restic.ts'
import {
  deleteBackup,
  getPlan,
  isInUse,
  listOld,
  listOn,
  listProven,
  setBackup,
  setPlan,
} from './store.ts'
import type { Backup } from './store.ts'

/** Failed, cancelled and removed backups that are kept of a subject, with their logs. */
const kept = 20

export const tagsOf = ({ id, subjectId }: Pick<Backup, 'id' | 'subjectId'>) => [
  'davit',
  `subject=${subjectId}`,
  `backup=${id}`,
]

type Options = { signal: AbortSignal }

/**
 * Forgets snapshots of backups that didn’t succeed, or begin again. Others that the database doesn’t know stay:
 * it may be an older one that was restored.
 */
export async function forgetUnfinished(
  { db }: Pick<BackupDeps, 'db'>,
  { id, subjectId, targetId }: Pick<Backup, 'id' | 'subjectId' | 'targetId'>,
  { restic, signal }: Options & { restic: Restic },
) {
  const isOver = (one: Backup) =>
    one.id === id ||
    one.goneAt ||
    (one.status === 'failed' && one.errorCode !== 'end_unknown') ||
    one.status === 'cancelled'
  const over = listOn(db, { subjectId, targetId }).filter(isOver)
  const tags = new Set(over.map((one) => `backup=${one.id}`))
  const listed = await restic.list({ tag: `subject=${subjectId}`, signal })
  const left = listed.filter((one) => one.tags.some((tag) => tags.has(tag)))
  if (left.length > 0) await restic.forget({ snapshots: left.map((one) => one.id), signal })
}

/** What the plan no longer keeps is removed; a failure is the plan’s, as the backup itself is good. */
export async function applyRetention(deps: BackupDeps, backup: Backup, { signal }: Options) {
  const { db } = deps
  const { subjectId, targetId } = backup
  const plan = getPlan(db, subjectId)
  if (!plan || plan.targetId !== targetId) return
  const { keepLast: last, keepDaily: daily, keepWeekly: weekly, keepMonthly: monthly } = plan
  if (last + daily + weekly + monthly === 0) return
  const restic = await openRepository(deps, backup)
  try {
    const tag = `subject=${subjectId}`
    const inUse = listOn(db, { subjectId, targetId }).filter((one) => isInUse(db, one))
    // also where the target couldn't mark it
    const proven = listProven(db, backup)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(-1)
    const keepTags = ['proven', ...[...inUse, ...proven].map((one) => `backup=${one.id}`)]
    const how = { keep: { last, daily, weekly, monthly }, keepTags, zone: plan.zone }
    const removed = new Set(await restic.retain({ tag, ...how, signal }))
    // the snapshots of a backup are of no use without each other
    const gone = listOn(db, { subjectId, targetId }).filter(
      ({ files, goneAt }) => !goneAt && files.some(({ snapshot }) => removed.has(snapshot)),
    )
    for (const { id } of gone) setBackup(db, id, { goneAt: new Date() })
    if (gone.length > 0) await forgetUnfinished(deps, { ...backup, id: '' }, { restic, signal })
    if (plan.problem?.reason === 'retention_failed') setPlan(db, plan.id, { problem: null })
  } catch (error) {
    if (signal.aborted) throw error
    const message = error instanceof Failure ? `${error.message} ${error.hint}` : 'See Davit’s log.'
    const problem = { reason: 'retention_failed', message: `Old backups stay: ${message}` } as const
    setPlan(db, plan.id, { problem })
    throw error
  }
}

export async function removeOldRows({ db, logDb }: BackupDeps, subjectId: string) {
  for (const backup of listOld(db, subjectId, kept)) await removeRow({ db, logDb }, backup)
}

/** The log is deleted first: one without its backup would stay for an hour. */
async function removeRow({ db, logDb }: Pick<BackupDeps, 'db' | 'logDb'>, { id }: Backup) {
  while (deleteSome(logDb, { sourceId: id, logId: id })) await pause()
  deleteBackup(db, id)
}

/** Removes a backup from its target, then from the list. Repeatable. */
export async function removeBackup(deps: BackupDeps, backup: Backup, { signal }: Options) {
  const restic = await openRepository(deps, backup)
  await forgetUnfinished(deps, backup, { restic, signal })
  await removeRow(deps, backup)
}
