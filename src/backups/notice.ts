import type { Tx } from '../db/index.ts'
import { emit } from '../notifications/emit.ts'
import { backupFailed, backupInTime, backupOverdue, backupWorks } from '../notifications/texts.ts'
import { getLastGood } from './store.ts'
import type { Backup, Plan } from './store.ts'
import { backupsPath } from './subject.ts'
import type { Subject, SubjectKind } from './subject.ts'

type Of = { ownerId: string; kind: SubjectKind; id: string; name: string }

const aboutOf = ({ ownerId, kind, id, name: subject }: Of) => ({
  ...{ ownerId: kind === 'davit' ? null : ownerId, subject },
  ...(kind === 'service' && { serviceId: id }),
  ...(kind === 'environment' && { environmentId: id }),
})

/** Tells that the backups of a subject fail, once until one succeeds. Call it in the transaction of its end. */
export function noteEnd(
  tx: Tx,
  backup: Backup,
  { status, errorMessage, errorHint = null }: Pick<Backup, 'status'> & Partial<Backup>,
) {
  const { subjectKind: kind, subjectId: id, subjectName: name, ownerId } = backup
  const about = { ...aboutOf({ kind, id, name, ownerId }), href: `/backups/${backup.id}` }
  const of = { subject: name }
  if (errorMessage) {
    const told = backupFailed({ ...of, message: errorMessage, hint: errorHint })
    emit(tx, { ...about, ...told, of: failing(id) })
  } else if (status === 'succeeded') emit(tx, { ...about, ...backupWorks(of), of: failing(id) })
  if (status === 'succeeded') emit(tx, { ...about, ...backupInTime(of), of: overdue(id) })
}

/** Tells that a due time has brought no backup, once until one succeeds. */
export function noteOverdue(tx: Tx, subject: Subject, { problem }: Pick<Plan, 'problem'>) {
  const last = getLastGood(tx, subject.id)?.createdAt ?? null
  const told = backupOverdue({ subject: subject.name, why: problem?.message ?? null, last })
  emit(tx, { ...aboutOf(subject), ...told, href: backupsPath(subject), of: overdue(subject.id) })
}

const failing = (id: string) => `backup ${id}`
const overdue = (id: string) => `backup overdue ${id}`
