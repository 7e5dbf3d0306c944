import type { Db } from '../db/index.ts'
import { Failure } from '../platform/errors.ts'
import type { BackupDeps } from './deps.ts'
import type { Restic } from './restic/restic.ts'
import { listPlansOn, listUnfinishedOn } from './store.ts'
import type { Backup } from './store.ts'
import { backupsPath, findSubject } from './subject.ts'
import { getTarget } from './targets/store.ts'

/** The target of a backup, with its repository. */
export async function openRepository(
  deps: Pick<BackupDeps, 'db' | 'openRestic'>,
  { targetId, ownerId }: Pick<Backup, 'targetId' | 'ownerId'>,
  options?: Parameters<BackupDeps['openRestic']>[1],
): Promise<Restic> {
  const target = getTarget(deps.db, { id: targetId, ownerId })
  if (!target)
    throw new Failure(
      'target_removed',
      'The target of this backup was removed.',
      'Choose another target in the plan.',
    )
  return deps.openRestic(target, options)
}

/** What a target can’t be removed from: plans, and backups that haven’t ended. */
export const usersOfTarget = (db: Db, targetId: string) => [
  ...listPlansOn(db, targetId).map(({ subjectKind: kind, subjectId: id, ownerId }) => ({
    href: backupsPath({ kind, id }),
    name: `the backup plan of ${findSubject(db, { kind, id, ownerId })?.name ?? 'what is being deleted'}`,
  })),
  ...listUnfinishedOn(db, targetId).map(({ id, subjectName }) => ({
    href: `/backups/${id}`,
    name: `a backup of ${subjectName}`,
  })),
]
