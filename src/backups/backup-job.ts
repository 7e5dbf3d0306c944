import type { Kind, Work } from '../jobs/task.ts'
import { LogWriter } from '../logs/log-writer.ts'
import { Failure } from '../platform/errors.ts'
import { bytes, counted } from '../web/units.ts'
import type { BackupDeps } from './deps.ts'
import { insertProof, isProofDue } from './proof/proof-job.ts'
import { release } from './hold.ts'
import { noteEnd } from './notice.ts'
import { openRepository } from './repository.ts'
import type { StoredSnapshot } from './restic/restic.ts'
import { descriptionOf } from './server/description.ts'
import { applyRetention, forgetUnfinished, removeOldRows, tagsOf, unfinished } from './retention.ts'
import { storeSubject, together } from './store-subject.ts'
import type { Stored } from './store-subject.ts'
import { endBackup, getBackup, logOf, setBackup } from './store.ts'
import type { Backup } from './store.ts'
import { maskedBy, maskOf, subjectOf } from './subject.ts'

/** Backups are jobs with the same id. One that Davit’s end interrupted begins again. */
export const backupKind =
  (deps: BackupDeps): Kind =>
  ({ id }) => {
    const backup = getBackup(deps.db, id)
    if (!backup) return undefined
    const { db, logs } = deps
    const log = new LogWriter(deps, logOf(backup))
    let stored: Stored | null = null
    let listed: StoredSnapshot[] = []
    let left: string[] = []
    /** What it used is removed once its end is stored. */
    let used: AsyncDisposable | null = null
    return {
      log,
      doing: 'the backup was made',
      again: 'back up again',
      async run(work) {
        log.mask = await maskOf(deps, backup)
        setBackup(db, id, { status: 'running', startedAt: new Date() })
        logs.publish(id, { status: 'running' })
        ;({ listed, left, used, ...stored } = await backUp(deps, { backup, log, work }))
      },
      async end(end, signal) {
        await using _ = used
        // a crash may have left containers paused or stopped
        const problem = await resume(deps, { id, shutdown: signal })
        const failure = end.status === 'failed' ? end.failure : problem
        const status = end.status === 'done' ? 'succeeded' : end.status
        const outcome = {
          status,
          ...stored,
          ...(failure && errorOf(maskedBy(log, failure))),
        } as const
        const isStored = db.transaction(() => {
          const isFirst = endBackup(db, id, outcome)
          if (isFirst && end.status !== 'cancelled') noteEnd(db, backup, outcome)
          const now = getBackup(db, id) // it may have another owner since it began
          if (isFirst && now?.status === 'succeeded' && isProofDue(db, now)) insertProof(db, now)
          return isFirst
        })
        deps.progress.delete(id)
        if (failure) log.write(`${failure.message} ${failure.hint}`)
        const line = stored && status === 'succeeded' ? done(stored) : `The backup ${status}.`
        return isStored ? { status, line } : undefined
      },
      async after(_, signal) {
        const now = getBackup(db, id)
        if (!now) return
        if (now.status === 'succeeded') {
          deps.jobs.wake() // of its proof
          await applyRetention(deps, now, { listed, left, signal })
        } else if (now.startedAt) {
          await using restic = await openRepository(deps, now, { inOne: true })
          await forgetUnfinished(deps, now, { restic, signal })
        }
        await removeOldRows(deps, now.subjectId)
      },
    }
  }

async function backUp(
  deps: BackupDeps,
  { backup, log, work }: { backup: Backup; log: LogWriter; work: Work },
): Promise<Stored & { listed: StoredSnapshot[]; left: string[]; used: AsyncDisposable }> {
  const { signal, shutdown } = work
  const { id, subjectId } = backup
  const subject = subjectOf(deps.db, backup)
  if (!subject) throw subjectGone(backup)
  const say = (line: string) => log.write(line)
  await using used = new AsyncDisposableStack()
  const restic = used.use(await openRepository(deps, backup, { say, inOne: true }))
  restic.begin({ signal })
  await resume(deps, { id, shutdown })
  const stored = await storeSubject(deps, { backup, subject, restic, used, log, work })
  log.write('Completing it on the target.')
  const isOwn = subject.kind === 'davit'
  const last = await restic.storeGathered({
    ...{ tags: tagsOf(backup), signal },
    last: isOwn ? null : descriptionOf({ ...getBackup(deps.db, id)!, ...stored }),
  })
  const listed = await restic.list({ tag: `subject=${subjectId}`, signal })
  // an older restic says only the beginning of an id
  const idOf = (snapshot: string) => listed.find(({ id }) => id.startsWith(snapshot))?.id ?? ''
  const files = stored.files.map(({ snapshot, ...file }) => ({
    ...file,
    snapshot: idOf(snapshot === together ? last!.id : snapshot),
  }))
  const missing = files.filter(({ snapshot }) => snapshot === '')
  if (missing.length > 0 || (last && !idOf(last.id)))
    throw notThere(missing.map(({ file }) => file))
  const ids = new Set(files.map(({ snapshot }) => snapshot))
  if (last) ids.add(idOf(last.id))
  // of a process that was killed, and of backups that failed
  const left = unfinished(
    deps.db,
    backup,
    listed.filter((one) => !ids.has(one.id)),
  )
  const addedBytes = stored.addedBytes + (last?.addedBytes ?? 0)
  return {
    ...stored,
    files,
    addedBytes,
    used: used.move(),
    left,
    listed: listed.filter((one) => !left.includes(one.id)),
  }
}

/** Returns what couldn’t be started again. */
async function resume(deps: BackupDeps, { id, shutdown }: { id: string; shutdown: AbortSignal }) {
  const held = getBackup(deps.db, id)?.held ?? null
  try {
    await release(deps, { id }, { held, shutdown })
    return null
  } catch (error) {
    if (error instanceof Failure && !shutdown.aborted) return error
    throw error
  }
}

const errorOf = ({ code, message, hint }: Failure) => ({
  ...{ errorCode: code, errorMessage: message, errorHint: hint },
})

const done = ({ files, bytes: size, addedBytes, rows }: Stored) =>
  `Stored ${counted(files.length, 'file')}, ${bytes(size)}. The target grew by ${bytes(addedBytes)}.` +
  (rows === null ? '' : ` It has ${counted(rows, 'row')}.`)

const subjectGone = ({ subjectName }: Backup) =>
  new Failure(
    'subject_gone',
    `${subjectName} was deleted before it was backed up.`,
    'Its earlier backups stay.',
  )

const notThere = (files: string[]) =>
  new Failure(
    'not_stored',
    `The target accepted ${files.join(', ') || 'the backup'}, but doesn’t list it.`,
    'Check the target with its Test button: it may lose what it is sent.',
  )
