import type { Db, Tx } from '../../db/index.ts'
import { newId } from '../../db/new-id.ts'
import type { Kind } from '../../jobs/task.ts'
import { endJob, hasJob, insertJob, proofsOf } from '../../jobs/store.ts'
import { LogWriter } from '../../logs/log-writer.ts'
import { Failure } from '../../platform/errors.ts'
import { counted } from '../../web/units.ts'
import type { BackupDeps } from '../deps.ts'
import { noteProof } from '../notice.ts'
import { getBackup, getPlan, getProofOf, logOf, setBackup } from '../store.ts'
import type { Backup } from '../store.ts'
import { maskedBy, maskOf } from '../subject.ts'
import { prove } from './prove.ts'

/** Stores a job that proves a backup; wake the jobs after the commit. Null while there is one. */
export function insertProof(db: Tx, { id: backupId, ownerId }: Pick<Backup, 'id' | 'ownerId'>) {
  const subjectId = proofsOf(backupId)
  if (hasJob(db, subjectId)) return null
  return insertJob(db, {
    ...{ id: newId(), kind: 'proof', subjectId, ownerId, slot: 'backup' },
    input: backupId,
  })
}

/** In milliseconds: half a day less, as a backup at the same time of the week may take less long than the last one. */
const week = 6.5 * 86_400_000

/** Whether the plan has this backup proven, now that it was made. */
export function isProofDue(db: Db, { subjectId }: Backup): boolean {
  const { prove: when = 'never' } = getPlan(db, subjectId) ?? {}
  if (when !== 'weekly') return when === 'each'
  const last = getProofOf(db, subjectId)
  return !last || last.getTime() < Date.now() - week
}

/** A proof writes to the log of its backup. */
export const proofKind =
  (deps: BackupDeps): Kind =>
  ({ id: jobId, input }) => {
    const { db } = deps
    const backup = getBackup(db, input ?? '')
    if (!backup || backup.goneAt) return undefined
    const log = new LogWriter(deps, logOf(backup))
    let rows: number | null = null
    const began = performance.now()
    return {
      log,
      doing: 'a backup was restored for a test',
      again: 'prove it again',
      async run({ signal }) {
        log.mask = await maskOf(deps, backup)
        deps.changes.touch(backup.id)
        rows = await prove(deps, { backup, log, signal })
      },
      end(end) {
        const failure = end.status === 'failed' ? maskedBy(log, end.failure) : null
        const seconds = Math.max(1, Math.round((performance.now() - began) / 1000))
        db.transaction((tx) => {
          endJob(tx, jobId)
          if (end.status !== 'cancelled') storeProof(tx, backup, { failure, seconds, rows })
        })
        deps.changes.touch(backup.id)
        if (failure) log.write(`${failure.message} ${failure.hint}`)
        if (failure && !isFinding(failure)) log.write('It couldn’t be tested.')
        if (end.status === 'cancelled') log.write('The test was cancelled.')
        if (end.status === 'done') log.write(`Proven restorable in ${counted(seconds, 'second')}.`)
      },
    }
  }

/** What says that the data can’t be restored. After any other failure what the last proof found still holds. */
const findings = new Set([
  ...['proof_differs', 'proof_sqlite', 'proof_query', 'dump_failed'],
  ...['backup_changed', 'backup_missing', 'backup_damaged', 'backup_untrue', 'target_damaged'],
])

const isFinding = ({ code }: Failure) => findings.has(code)

function storeProof(
  tx: Tx,
  backup: Backup,
  { failure, seconds, rows }: { failure: Failure | null; seconds: number; rows: number | null },
) {
  if (!getBackup(tx, backup.id)) return
  const error = failure && `${failure.message} ${failure.hint}`
  const isTested = !failure || isFinding(failure)
  setBackup(tx, backup.id, {
    untested: isTested ? null : error,
    ...(isTested && { provenAt: new Date(), provenSeconds: seconds, provenRows: rows }),
    ...(isTested && { provenError: error }),
  })
  noteProof(tx, backup, { failure, isTested })
}
