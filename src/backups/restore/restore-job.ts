import { getBackupEnd } from '../../services/store.ts'
import type { Db } from '../../db/index.ts'
import { newId } from '../../db/new-id.ts'
import type { StoredRestore } from '../../db/schema.ts'
import type { Kind } from '../../jobs/task.ts'
import { endJob, insertJob } from '../../jobs/store.ts'
import { LogWriter } from '../../logs/log-writer.ts'
import { Failure } from '../../platform/errors.ts'
import type { BackupDeps } from '../deps.ts'
import { release } from '../hold.ts'
import { insertBackupJob } from '../start.ts'
import { getBackup, getPlan, logOf, setBackup } from '../store.ts'
import type { Backup } from '../store.ts'
import { maskedBy, maskOf } from '../subject.ts'
import type { Subject } from '../subject.ts'
import { restore } from './restore.ts'

type Asked = { subject: Subject; by: string; database: string | null; isBackedUp: boolean }

/** Stores a restore and the backup before it; wake the jobs after the commit. */
export function insertRestore(
  db: Db,
  backup: Backup,
  { subject, by, database, isBackedUp }: Asked,
) {
  const { targetId, subjectId, ownerId } = backup
  const { hold = 'pause' } = getPlan(db, subjectId) ?? {}
  const before = isBackedUp ? insertBackupJob(db, { subject, by, targetId, hold }).id : null
  const slot = subject.kind === 'service' ? 'service' : 'backup'
  insertJob(db, {
    ...{ id: newId(), kind: 'restore', subjectId, ownerId, slot, after: before },
    input: backup.id,
  })
  const at = new Date().toISOString()
  setBackup(db, backup.id, {
    restore: { at, by, status: 'pending', database, before, error: null },
  })
}

/** A restore writes to the log of its backup. One that Davit’s end interrupted begins again. */
export const restoreKind =
  (deps: BackupDeps): Kind =>
  ({ id: jobId, input, after }) => {
    const { db } = deps
    const backup = getBackup(db, input ?? '')
    if (!backup?.restore) return undefined
    const log = new LogWriter(deps, logOf(backup))
    const set = (changes: Partial<StoredRestore>) => {
      const { restore = null } = getBackup(db, backup.id) ?? {}
      if (restore) setBackup(db, backup.id, { restore: { ...restore, ...changes } })
    }
    return {
      log,
      doing: 'a backup was restored',
      again: 'restore it again: what it replaces may be incomplete',
      async run(work) {
        log.mask = await maskOf(deps, backup)
        set({ status: 'running' })
        deps.changes.touch(backup.id)
        if (after) refuseWithoutBackup(db, after)
        await restore(deps, { backup, database: backup.restore!.database, log, work })
      },
      async end(end, shutdown) {
        const { held = null } = getBackup(db, backup.id) ?? {}
        const notResumed = await release(deps, backup, { held, shutdown }).then(
          () => null,
          (error) => (error instanceof Failure ? error : Promise.reject(error)),
        )
        const status = end.status === 'done' ? 'succeeded' : end.status
        const failure = end.status === 'failed' ? maskedBy(log, end.failure) : notResumed
        const error = failure && `${failure.message} ${failure.hint}`
        db.transaction((tx) => {
          endJob(tx, jobId)
          set({ status, error })
        })
        deps.changes.touch(backup.id)
        if (error) log.write(error)
        log.write(`The restore ${status}.`)
      },
    }
  }

function refuseWithoutBackup(db: Db, id: string) {
  const backup = getBackupEnd(db, id)
  if (backup?.status === 'succeeded') return
  throw new Failure(
    'backup_failed',
    `Nothing was restored, as the backup before it failed: ${backup?.errorMessage ?? 'It was cancelled.'}`,
    'Make one that succeeds, or restore without it.',
  )
}
