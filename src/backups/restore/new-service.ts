import { AppError, Failure, invalidField } from '../../platform/errors.ts'
import type { User } from '../../web/factory.ts'
import { componentsOf } from '../../services/definition.ts'
import type { Definition } from '../../services/definition.ts'
import { freeName, makeService } from '../../services/make.ts'
import { listNames } from '../../services/store.ts'
import type { Service } from '../../services/store.ts'
import { openBackedUp } from '../../services/stored-definition.ts'
import type { BackupDeps } from '../deps.ts'
import type { Preview } from '../json.ts'
import { volumesIn } from '../store.ts'
import type { Backup } from '../store.ts'
import { ofService } from '../subject.ts'
import { insertRestore } from './restore-job.ts'
import { unmountedBy } from './unmounted.ts'

/** In characters; with a number behind it the name is still one of a service. */
const maxName = 56

/** A service that a backup can be restored into. */
export type NewService = NonNullable<Preview['new']>

type Wanted = {
  owner: User
  name: string | null
  /** Where it runs, by name or id; null for the server that Davit runs on. */
  server: string | null
  database: string | null
  /** Both run in the storing transaction, `check` first. */
  check: () => void
  also: (service: Service) => void
}

export async function previewNew(deps: BackupDeps, backup: Backup): Promise<NewService> {
  const definition = await definitionIn(deps, backup)
  const { template, version, file } = definition
  return {
    ...{ template, version, title: file.about.name, name: nameFor(deps, backup) },
    newPasswords: !hasVolumes(backup),
    unmounted: unmountedBy(deps, definition, backup),
  }
}

/** Creates one like the one that was backed up, and restores the backup into it. */
export async function restoreIntoNew(
  deps: BackupDeps,
  backup: Backup,
  { owner, name, server, database, check, also }: Wanted,
): Promise<Service> {
  const definition = await definitionIn(deps, backup)
  const { template, compose, file, version, allowed } = definition
  const input = {
    ...{ name: name ?? nameFor(deps, backup), allowed },
    ...(file.about.version !== '' && { version }),
    placement: server === null ? null : placedOn(deps, server),
  }
  const values = valuesFor(deps, backup, definition)
  const wanted = { owner, template, compose, values, file, input }
  try {
    return makeService(deps, wanted, (service) => {
      check()
      insertRestore(deps.db, backup, {
        ...{ subject: ofService(service), isNew: true, isBackedUp: false },
        ...{ by: owner.email, database },
      })
      also(service)
    })
  } catch (error) {
    throw asServer(error)
  }
}

/** Null for the only server: a placement needs a second one. */
function placedOn({ serverList }: Pick<BackupDeps, 'serverList'>, server: string) {
  const all = serverList.list()
  const named = all.find(({ id, name }) => id === server || name === server)
  if (!named) throw invalidField('server', 'must be one of the servers.')
  return all.length > 1 ? { server: named.id } : null
}

/** A placement is refused at the field that a restore has for it. */
function asServer(error: unknown) {
  const [refused] = error instanceof AppError ? error.fields : []
  return refused?.field === 'placement' ? invalidField('server', refused.message) : error
}

async function definitionIn(deps: BackupDeps, backup: Backup): Promise<Definition> {
  const { id: backupId, subjectId: serviceId, ownerId, definition: sealed } = backup
  if (sealed === null)
    throw new AppError('conflict', 'Only a backup of a service can be restored into a new one.')
  try {
    return await openBackedUp(deps, { backupId, serviceId, ownerId, sealed })
  } catch (cause) {
    if (cause instanceof AppError || cause instanceof Failure) throw cause
    throw new AppError(
      'conflict',
      'The settings of the service were sealed under another key, so that no other one can be created from them.',
      { cause },
    )
  }
}

/**
 * Those of the backup, without generated passwords of its databases: they are loaded into servers that have new
 * ones. Others may be keys of the data, and files of volumes may have any.
 */
function valuesFor(deps: BackupDeps, backup: Backup, definition: Definition) {
  const values = new Map(definition.values)
  if (hasVolumes(backup)) return values
  const dumped = new Set((backup.contents ?? []).map(({ component }) => component))
  const used = componentsOf(deps, definition).flatMap(({ name, options, files }) =>
    dumped.has(name)
      ? [
          ...Object.values(options.env ?? {}),
          ...(options.command ?? []),
          ...files.map(({ content }) => content),
        ]
      : [],
  )
  for (const { name, secret, generate } of definition.file.variables.values()) {
    const value = values.get(name)
    if (secret && generate && value && used.some((text) => text.includes(value)))
      values.delete(name)
  }
  return values
}

const hasVolumes = (backup: Backup) => volumesIn(backup).length > 0

const nameFor = ({ db }: BackupDeps, { subjectName, ownerId }: Backup) =>
  freeName(subjectName.slice(0, maxName), listNames(db, ownerId))
