import { AppError } from '../platform/errors.ts'
import type { BackupFirst } from '../services/change-routes.tsx'
import type { Db } from '../db/index.ts'
import { insertBackupJob } from './start.ts'
import { getPlan } from './store.ts'
import { ofService } from './subject.ts'
import type { Subject } from './subject.ts'
import { listTargets } from './targets/store.ts'

export const backupFirst = ({ db }: { db: Db }): BackupFirst => ({
  isOffered: (service) => offersBackup(db, service),
  insert: (service, by) => insertBackupFirst(db, ofService(service), by),
})

export const offersBackup = (db: Db, of: Owned) => targetOf(db, of) !== null

/** To the target of its plan, else to the only one of its owner. Returns its id. */
export function insertBackupFirst(db: Db, subject: Subject, by: string) {
  return insertBackupJob(db, { subject, by, targetId: requireTarget(db, subject) }).id
}

/** Throws when it isn’t known to which target it is backed up. */
export function requireTarget(db: Db, { name, ...of }: Owned & { name: string }) {
  const targetId = targetOf(db, of)
  if (targetId !== null) return targetId
  throw new AppError(
    'conflict',
    `It isn’t known to which target ${name} is backed up. Plan its backups first.`,
  )
}

type Owned = { id: string; ownerId: string }

function targetOf(db: Db, { id, ownerId }: Owned) {
  const targets = listTargets(db, ownerId)
  const planned = getPlan(db, id)?.targetId
  const target = targets.find((one) => one.id === planned) ?? (targets.length === 1 && targets[0])
  return target ? target.id : null
}
