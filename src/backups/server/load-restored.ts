import { forgetToLoad, listToLoad } from '../../db/restored.ts'
import type { BackupDeps } from '../deps.ts'
import { insertRestore } from '../restore/restore-job.ts'
import { isBeingRestored } from '../store.ts'
import { subjectOf } from '../subject.ts'
import type { SubjectKind } from '../subject.ts'

/**
 * Queues what a restore of the whole server has noted: the databases of services or of environments are loaded
 * once their start or deployment has ended. Call it when that is queued. Repeatable.
 */
export function loadRestored({ db, jobs }: Pick<BackupDeps, 'db' | 'jobs'>, kind: SubjectKind) {
  for (const backup of listToLoad(db)) {
    if (backup.subjectKind !== kind || isBeingRestored(db, backup)) continue
    const subject = subjectOf(db, backup)
    if (!subject) forgetToLoad(db, backup.id)
    else
      insertRestore(db, backup, {
        ...{ subject, by: 'a restore of the server', database: null },
        ...{ isNew: false, isStarting: true, isBackedUp: false },
      })
  }
  jobs.wake()
}
