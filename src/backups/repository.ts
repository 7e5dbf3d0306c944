import type { Db } from '../db/index.ts'
import { AppError, Failure } from '../platform/errors.ts'
import type { BackupDeps } from './deps.ts'
import type { Restic } from './restic/restic.ts'
import { listInUseOn, listPlansOn, listUnfinishedOn } from './store.ts'
import type { Backup } from './store.ts'
import { backupsPath, keyOf, subjectOf } from './subject.ts'
import { getTarget } from './targets/store.ts'

type OfTarget = Pick<Backup, 'targetId' | 'ownerId'>

export const hasTarget = (db: Db, { targetId: id, ownerId }: OfTarget) =>
  getTarget(db, { id, ownerId }) !== undefined

export function refuseWithoutTarget(db: Db, backup: OfTarget) {
  if (!hasTarget(db, backup))
    throw new AppError(
      'conflict',
      'The target of this backup was removed. Add it again with its key under Settings, Targets. If it is there again, test it.',
    )
}

/** Has each of its snapshots. */
export const backupTag = ({ id }: Pick<Backup, 'id'>) => `backup=${id}`

/** The target of a backup, with its repository. */
export async function openRepository(
  deps: Pick<BackupDeps, 'db' | 'openRestic'>,
  { targetId, ownerId }: OfTarget,
  options?: Parameters<BackupDeps['openRestic']>[1],
): Promise<Restic> {
  const target = getTarget(deps.db, { id: targetId, ownerId })
  if (!target)
    throw new Failure(
      'target_removed',
      'The target of this backup was removed.',
      'Add it again with its key, or choose another target in the plan.',
    )
  return deps.openRestic(target, options)
}

/** What a target can’t be removed from: plans, and backups that haven’t ended, or are restored or proven. */
export const usersOfTarget = (db: Db, targetId: string) => [
  ...listPlansOn(db, targetId).map((plan) => ({
    href: backupsPath(keyOf(plan)),
    name: `the backup plan of ${subjectOf(db, plan)?.name ?? 'what is being deleted'}`,
  })),
  ...listUnfinishedOn(db, targetId).map(({ id, subjectName }) => ({
    href: `/backups/${id}`,
    name: `a backup of ${subjectName}`,
  })),
  ...listInUseOn(db, targetId).map(({ id, subjectName }) => ({
    href: `/backups/${id}`,
    name: `a restore or proof of a backup of ${subjectName}`,
  })),
]
