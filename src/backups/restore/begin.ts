import { isToLoad } from '../../db/restored.ts'
import { asWriter } from '../../db/queries.ts'
import { findOwnLiveEnvironment, listOwnEnvironments } from '../../environments/store.ts'
import { hasJob } from '../../jobs/store.ts'
import { AppError, Failure, found, invalidField } from '../../platform/errors.ts'
import { placeable } from '../../services/placement.ts'
import type { Service } from '../../services/store.ts'
import type { User } from '../../web/factory.ts'
import type { BackupDeps } from '../deps.ts'
import type { restoreForm } from '../forms.ts'
import type { Preview } from '../json.ts'
import { refuseWithoutTarget } from '../repository.ts'
import { refuseRemoving } from '../retention.ts'
import { getBackup, isBeingRestored, isStored, volumesIn } from '../store.ts'
import type { Backup } from '../store.ts'
import { ofEnvironment, subjectOf } from '../subject.ts'
import type { Subject } from '../subject.ts'
import { choicesOf } from './choices.ts'
import { previewNew, restoreIntoNew } from './new-service.ts'
import { elsewhereFor } from './refusals.ts'
import { insertRestore } from './restore-job.ts'

type RestoreRequest = { owner: User; input: (typeof restoreForm)['_output'] }

export async function previewRestore(deps: BackupDeps, backup: Backup): Promise<Preview> {
  const same = subjectOf(deps.db, backup)
  return {
    databases: choicesOf(backup).map(({ choice }) => choice),
    volumes: volumesIn(backup),
    same: same ? { id: same.id, name: same.name } : null,
    new:
      backup.definition === null
        ? null
        : await previewNew(deps, backup).catch((error) => {
            if (error instanceof AppError || error instanceof Failure) return null
            throw error
          }),
    environments: beside(deps, backup).map(({ id, name }) => ({ id, name })),
    servers: placeable(deps).map(({ id, name }) => ({ id, name })),
  }
}

/** Stores a restore, to be woken, and `also` with it. Returns the service that is created for it. */
export async function beginRestore(
  deps: BackupDeps,
  backup: Backup,
  { owner, input, also }: RestoreRequest & { also: (service?: Service) => void },
): Promise<Service | null> {
  refuseUnusable(deps, backup)
  const { into, name = null, environmentId = null, server = null, backupFirst } = input
  const database = namedIn(backup, input.database)
  if (into === 'new') {
    if (backup.subjectKind !== 'service') throw noNewEnvironment()
    if (environmentId !== null) throw invalidField('environmentId', 'can’t be a new service.')
    return restoreIntoNew(deps, backup, {
      ...{ owner, name, server, database, also },
      check: () => refuseBusy(deps, backup),
    })
  }
  if (name !== null) throw invalidField('name', 'is that of a new service: set into to new.')
  if (server !== null)
    throw invalidField('server', 'is only that of a new service: what is there stays where it is.')
  asWriter(deps.db, () => {
    const subject = subjectFor(deps, backup, environmentId)
    refuseBusy(deps, backup)
    if (hasJob(deps.db, subject.id)) throw busy(subject)
    const by = owner.email
    const isBackedUp = backupFirst
    insertRestore(deps.db, backup, { subject, isNew: false, by, database, isBackedUp })
    also()
  })
  return null
}

export function refuseUnusable({ db }: Pick<BackupDeps, 'db'>, backup: Backup) {
  if (!isStored(backup)) throw new AppError('conflict', 'Only a complete backup can be restored.')
  if (backup.subjectKind === 'davit')
    throw new AppError(
      'conflict',
      'Davit itself can only be restored on its server, with davit restore.',
    )
  refuseWithoutTarget(db, backup)
}

function subjectFor(deps: BackupDeps, backup: Backup, environmentId: string | null): Subject {
  const { subjectName, ownerId } = backup
  if (environmentId === null) {
    const subject = subjectOf(deps.db, backup)
    if (subject) return subject
    const elsewhere = elsewhereFor(backup)
    throw new AppError('conflict', `${subjectName} was deleted. Restore it into ${elsewhere}.`)
  }
  const isOne = beside(deps, backup).some(({ id }) => id === environmentId)
  if (!isOne)
    throw invalidField('environmentId', 'must be the id of another environment of the project.')
  return ofEnvironment(findOwnLiveEnvironment(deps.db, { id: environmentId, ownerId }))
}

/** Environments that could have the same volumes: of the same project; any once it was deleted. */
function beside({ db }: BackupDeps, { subjectKind, subjectId: id, ownerId }: Backup) {
  if (subjectKind !== 'environment') return []
  const all = listOwnEnvironments(db, ownerId)
  const projectId = all.find(({ environment }) => environment.id === id)?.project.id
  return all
    .filter(({ environment, project }) =>
      projectId === undefined ? true : environment.id !== id && project.id === projectId,
    )
    .map(ofEnvironment)
}

function namedIn(backup: Backup, database: string | null | undefined) {
  if (!database) return null
  const choices = choicesOf(backup)
  if (choices.some(({ choice }) => choice === database)) return database
  const alike = choices.filter(({ name }) => name === database).map(({ choice }) => choice)
  throw invalidField(
    'database',
    alike.length > 0
      ? `must name its server, too: ${alike.join(' or ')}.`
      : 'must be a database of the backup.',
  )
}

function refuseBusy(deps: BackupDeps, backup: Backup) {
  refuseRemoving(deps, backup)
  refuseUnusable(deps, found('backup', getBackup(deps.db, backup.id)))
  if (isBeingRestored(deps.db, backup) || isToLoad(deps.db, backup.id))
    throw new AppError('conflict', 'This backup is being restored. Wait until that has ended.')
}

const busy = ({ name }: Subject) =>
  new AppError('conflict', `${name} is being changed. Wait until that has ended.`)

const noNewEnvironment = () =>
  invalidField(
    'into',
    'must be same: an environment is created from its repository. Deploy another one, then name it with environmentId.',
  )
