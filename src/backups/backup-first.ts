import { AppError } from '../platform/errors.ts'
import type { BackupFirst } from '../services/change-routes.tsx'
import type { Db } from '../db/index.ts'
import { insertBackupJob } from './start.ts'
import { getPlan } from './store.ts'
import { ofService } from './subject.ts'
import { listTargets } from './targets/store.ts'

/** To the target of its plan, else to the only one of its owner. */
export const backupFirst = ({ db }: { db: Db }): BackupFirst => ({
  isOffered: (service) => targetOf(db, service) !== null,
  insert(service, by) {
    const targetId = targetOf(db, service)
    if (targetId === null)
      throw new AppError(
        'conflict',
        `It isn’t known to which target ${service.name} is backed up. Plan its backups first.`,
      )
    const { hold = 'pause' } = getPlan(db, service.id) ?? {}
    return insertBackupJob(db, { subject: ofService(service), by, targetId, hold }).id
  },
})

function targetOf(db: Db, { id, ownerId }: { id: string; ownerId: string }) {
  const targets = listTargets(db, ownerId)
  const planned = getPlan(db, id)?.targetId
  const target = targets.find((one) => one.id === planned) ?? (targets.length === 1 && targets[0])
  return target ? target.id : null
}
