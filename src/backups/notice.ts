import type { Tx } from '../db/index.ts'
import { getEnvironmentIn } from '../environments/store.ts'
import { emit } from '../notifications/emit.ts'
import {
  backupFailed,
  backupInTime,
  backupOverdue,
  backupProven,
  backupUnproven,
  backupUntested,
  backupWorks,
  notLoaded,
} from '../notifications/texts.ts'
import type { News } from '../notifications/texts.ts'
import type { Failure } from '../platform/errors.ts'
import { getLastGood } from './store.ts'
import type { Backup, Plan } from './store.ts'
import { backupsPath, keyOf, subjectOf } from './subject.ts'
import type { Subject, SubjectKind } from './subject.ts'

type NoticeSubject = { ownerId: string; kind: SubjectKind; id: string; name: string }

const aboutOf = (tx: Tx, { ownerId, kind, id, name: subject }: NoticeSubject) => ({
  ...{ ownerId: kind === 'davit' ? null : ownerId, subject },
  ...(kind === 'service' && { serviceId: id }),
  ...(kind === 'environment' && {
    environmentId: id,
    projectId: getEnvironmentIn(tx, id)?.project.id ?? null,
  }),
})

const ofBackup = (backup: Backup) => ({
  ...keyOf(backup),
  ...{ name: backup.subjectName, ownerId: backup.ownerId },
})

/** Tells that the backups of a subject fail, once until one succeeds. Call it in the transaction of its end. */
export function noteEnd(
  tx: Tx,
  backup: Backup,
  { status, errorMessage, errorHint = null }: Pick<Backup, 'status'> & Partial<Backup>,
) {
  const { subjectId: id, subjectName: name } = backup
  const about = { ...aboutOf(tx, ofBackup(backup)), href: `/backups/${backup.id}` }
  const of = { subject: name }
  if (errorMessage) {
    const told = backupFailed({ ...of, message: errorMessage, hint: errorHint })
    emit(tx, { ...about, ...told, of: failing(id) })
  } else if (status === 'succeeded') emit(tx, { ...about, ...backupWorks(of), of: failing(id) })
  if (status === 'succeeded')
    emit(tx, { ...about, ...backupInTime({ ...of, hasPlan: true }), of: overdue(id) })
}

/** Tells that databases stay empty after a restore of the whole server. Call it in the transaction of its end. */
export const noteNotLoaded = (tx: Tx, backup: Backup, { message }: Failure) =>
  emit(tx, {
    ...aboutOf(tx, ofBackup(backup)),
    ...notLoaded({ subject: backup.subjectName, message }),
    href: `/backups/${backup.id}`,
  })

/** Tells that a due time has brought no backup, once until one succeeds. */
export function noteOverdue(tx: Tx, subject: Subject, { problem }: Pick<Plan, 'problem'>) {
  const last = getLastGood(tx, subject.id)?.createdAt ?? null
  const told = backupOverdue({ subject: subject.name, why: problem?.message ?? null, last })
  tellOfPlan(tx, subject, told)
}

/** Call it in the transaction that removes the plan: a later one is told of again. */
export const noteUnplanned = (tx: Tx, subject: Subject) =>
  tellOfPlan(tx, subject, backupInTime({ subject: subject.name, hasPlan: false }))

function tellOfPlan(tx: Tx, subject: Subject, told: News) {
  const about = { ...aboutOf(tx, subject), href: backupsPath(subject) }
  emit(tx, { ...about, ...told, of: overdue(subject.id) })
}

/**
 * Tells that a backup can’t be restored, or couldn’t be tested, each once until one of the subject is proven. Also
 * of what was deleted since.
 */
export function noteProof(
  tx: Tx,
  backup: Backup,
  { failure, isTested }: { failure: Failure | null; isTested: boolean },
) {
  const { id, subjectId, subjectName: subject, ownerId } = backup
  const isThere = subjectOf(tx, backup) !== undefined
  const about = isThere ? aboutOf(tx, ofBackup(backup)) : { ownerId, subject }
  const tell = (told: News, of: string) =>
    emit(tx, { ...about, ...told, of: `${of} ${subjectId}`, href: `/backups/${id}` })
  const why = failure && { subject, message: failure.message, hint: failure.hint }
  if (!why || isTested) tell(why ? backupUnproven(why) : backupProven({ subject }), 'unproven')
  if (!why || !isTested) tell(why ? backupUntested(why) : backupProven({ subject }), 'untested')
}

const failing = (id: string) => `backup ${id}`
const overdue = (id: string) => `backup overdue ${id}`
