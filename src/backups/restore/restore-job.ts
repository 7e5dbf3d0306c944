import type { Db } from '../../db/index.ts'
import { forgetToLoad, isToLoad } from '../../db/restored.ts'
import { newId } from '../../db/new-id.ts'
import type { StoredReplaced, StoredRestore } from '../../db/schema.ts'
import type { Kind } from '../../jobs/task.ts'
import { endJob, getJobOf, hasJob, insertJob } from '../../jobs/store.ts'
import { LogWriter } from '../../logs/log-writer.ts'
import { Failure } from '../../platform/errors.ts'
import { openComponents } from '../../runtime/component.ts'
import { getLiveRelease } from '../../runtime/store.ts'
import { removeService } from '../../services/remove.ts'
import { refuseWithoutBackup } from '../../jobs/after-store.ts'
import { insertServiceJob } from '../../services/service-jobs.ts'
import { getService, updateService } from '../../services/store.ts'
import type { BackupDeps } from '../deps.ts'
import { noteNotLoaded } from '../notice.ts'
import { release } from '../hold.ts'
import { insertBackupJob, turnPlanOff } from '../start.ts'
import { getBackup, listUnfinished, logOf, setBackup, workOf } from '../store.ts'
import type { Backup } from '../store.ts'
import { findSubject, keyOf, maskedBy, maskOf } from '../subject.ts'
import type { Subject } from '../subject.ts'
import { restore } from './restore.ts'
import { undoLoads } from './undo-loads.ts'

type Restore = {
  /** What its data replaces that of. */
  subject: Subject
  /** True for a service that was created for it, and whose start is queued. */
  isNew: boolean
  /** True when it waits for the start or deployment that is queued. */
  isStarting?: boolean
  by: string
  database: string | null
  isBackedUp: boolean
}

/** Stores a restore and the backup before it; wake the jobs after the commit. */
export function insertRestore(
  db: Db,
  backup: Backup,
  { subject, isNew, isStarting = isNew, by, database, isBackedUp }: Restore,
) {
  const { id: subjectId, kind, name, ownerId } = subject
  const { targetId } = backup
  const before = isBackedUp ? insertBackupJob(db, { subject, by, targetId }).id : null
  const slot = kind === 'service' ? 'service' : 'backup'
  // what copies its volumes must not store half of them
  const running = listUnfinished(db, subjectId).at(-1)?.id
  const after = isStarting ? getJobOf(db, subjectId)?.id : (before ?? running)
  insertJob(db, {
    ...{ id: newId(), kind: 'restore', subjectId, ownerId, slot, after },
    input: backup.id,
  })
  const into =
    kind === 'davit' || subjectId === backup.subjectId ? null : { kind, id: subjectId, name, isNew }
  const at = new Date().toISOString()
  setBackup(db, backup.id, {
    restore: { at, by, status: 'pending', into, database, before, error: null },
  })
}

/**
 * A restore writes to the log of its backup. One that Davit’s end interrupted begins again. A new service is
 * removed unless its data is whole.
 */
export const restoreKind =
  (deps: BackupDeps): Kind =>
  ({ id: jobId, input }) => {
    const { db } = deps
    const backup = getBackup(db, input ?? '')
    if (!backup?.restore) return undefined
    const { into: elsewhere, before, database } = backup.restore
    const into = elsewhere ?? { ...keyOf(backup), isNew: false }
    const log = new LogWriter(deps, logOf(backup))
    const set = (changes: Partial<StoredRestore>) => {
      const { restore = null } = getBackup(db, backup.id) ?? {}
      if (restore) setBackup(db, backup.id, { restore: { ...restore, ...changes } })
    }
    const note = (what: string, how: keyof StoredReplaced) => {
      const { whole = [], part = [] } = getBackup(db, backup.id)?.restore?.replaced ?? {}
      const replaced = {
        whole: whole.filter((one) => one !== what),
        part: part.filter((one) => one !== what),
      }
      replaced[how].push(what)
      set({ replaced })
    }
    let isRemoved = false
    // by a process that has ended, when a new service had started
    const isAgain = backup.restore.status === 'running'
    let isLeft = isAgain
    const undoLeft = async (signal: AbortSignal) => {
      if (isLeft) isLeft = !(await undoLoads(deps, { backup, into, database, signal }))
    }
    return {
      log,
      doing: 'a backup was restored',
      again: into.isNew
        ? 'restore it again'
        : 'restore it again: what it replaces may be incomplete',
      async run(work) {
        log.mask = await maskOf(deps, { subjectKind: into.kind, subjectId: into.id })
        set({ status: 'running' })
        deps.changes.touch(backup.id)
        await undoLeft(work.undo)
        if (before) refuseWithoutBackup(db, before)
        if (into.isNew && !isAgain) refuseNotStarted(db, into.id)
        const withVolumes = !isToLoad(db, backup.id)
        const isStarting = into.isNew || isAgain || !withVolumes
        const how = { withVolumes, isStarting, log, work, note }
        await restore(deps, { backup, into, database, ...how })
      },
      async end(end, signal) {
        const { held = null } = getBackup(db, backup.id) ?? {}
        const notResumed = await release(deps, backup, { held, shutdown: signal }).then(
          () => null,
          (error) => (error instanceof Failure ? error : Promise.reject(error)),
        )
        if (end.status !== 'done') await undoLeft(signal)
        const status = end.status === 'done' ? 'succeeded' : end.status
        const failure = end.status === 'failed' ? maskedBy(log, end.failure) : notResumed
        const reached = getBackup(db, backup.id)?.restore
        const left =
          end.status === 'done' || into.isNew || !reached ? null : leftBy(reached, status)
        const said = [left, failure].flatMap((one) => one && `${one.message} ${one.hint}`)
        const error = said.filter(Boolean).join(' ') || null
        db.transaction((tx) => {
          endJob(tx, jobId)
          const isOfServer = forgetToLoad(tx, backup.id)
          const subject = findSubject(tx, { ...into, ownerId: backup.ownerId })
          if (isOfServer && end.status !== 'done' && subject) turnPlanOff(tx, subject)
          if (isOfServer && failure && end.status === 'failed') noteNotLoaded(tx, backup, failure)
          set({ status, error })
          if (end.status === 'done') {
            if (subject && (into.isNew || isOfServer)) restartAppsOf(deps, subject)
            return
          }
          const service = into.isNew ? getService(tx, into.id) : undefined
          if (!service || service.deletingAt) return
          isRemoved = true
          updateService(db, service.id, { deletingAt: new Date(), deletingVolumes: true })
        })
        deps.jobs.wake()
        deps.changes.touch(backup.id)
        if (error) log.write(error)
        if (isRemoved) log.write(`${elsewhere!.name} is removed again.`)
        log.write(`The restore ${status}.`)
        log.end()
        deps.logs.publish(backup.id, { status: workOf(db, backup.id) })
      },
      async after(_, signal) {
        const service = isRemoved && !signal.aborted ? getService(db, into.id) : undefined
        if (service) await removeService(deps, { service, volumes: true })
      },
    }
  }

/** Those that began with empty databases would go on with what they read then. */
function restartAppsOf(deps: BackupDeps, subject: Subject) {
  const { db, secrets } = deps
  const { id: subjectId, ownerId } = subject
  const components = openComponents(secrets, getLiveRelease(db, subjectId)) ?? []
  if (components.length <= 1 || hasJob(db, subjectId)) return
  if (subject.kind === 'service') insertServiceJob(deps, subject.service, 'restart')
  else insertJob(db, { id: newId(), kind: 'restart-app', subjectId, ownerId })
}

/** Null when all is as it was. */
function leftBy({ replaced, before }: StoredRestore, status: string) {
  const { whole = [], part = [] } = replaced ?? {}
  if (whole.length + part.length === 0) return null
  const inPart = part.join(' and ')
  const done = whole.join(' and ')
  const ended = status === 'failed' ? 'It failed' : 'It was cancelled'
  const message =
    part.length === 0
      ? `${ended} after it had replaced ${done}. The rest is as it was.`
      : `${ended} while it replaced ${inPart}, which may be incomplete.` +
        (done && ` It had replaced ${done}.`)
  const other = before ? 'the backup that was made before' : 'another backup'
  return { message, hint: `Restore it again, or restore ${other}.` }
}

function refuseNotStarted(db: Db, id: string) {
  const service = getService(db, id)
  if (service?.status === 'running') return
  throw new Failure(
    'restore_not_started',
    `The new service didn’t start: ${service?.errorMessage ?? 'it was stopped.'}`,
    service?.errorHint ?? 'Restore it again.',
  )
}
