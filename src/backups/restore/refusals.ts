import { Failure } from '../../platform/errors.ts'
import type { Backup } from '../store.ts'

/** No environment is created with a backup. */
export const elsewhereFor = ({ subjectKind }: Backup) =>
  subjectKind === 'service' ? 'a new service' : 'another environment'

export const noSubject = (backup: Backup) =>
  new Failure(
    'restore_no_subject',
    `${backup.restore?.into?.name ?? backup.subjectName} was deleted.`,
    `Restore the backup into ${elsewhereFor(backup)}, or download it.`,
  )

export const nothingLike = (component: string, backup: Backup) =>
  new Failure(
    'restore_no_server',
    `There is no database ${component} that the dump could be loaded into.`,
    `Add it under that name, or restore the backup into ${elsewhereFor(backup)}.`,
  )

export const notUsed = (names: string, backup: Backup) =>
  new Failure(
    'restore_volume_unused',
    `The backup only has ${names}, which its present version doesn’t use any more, and nothing was changed.`,
    `Give it a volume of that name again, or restore the backup into ${elsewhereFor(backup)}.`,
  )

export const noVolume = (name: string, backup: Backup) =>
  new Failure(
    'restore_no_volume',
    `There is no volume ${name}, and nothing was changed.`,
    `Add it under that name, or restore the backup into ${elsewhereFor(backup)}.`,
  )

export const overDatabase = (names: string) =>
  new Failure(
    'restore_over_database',
    `The backup has files of ${names}, which has the data of a database now: they would be put over what is loaded from its dump. Nothing was changed.`,
    'Give the database a volume of another name, or restore one database alone, which leaves all volumes as they are.',
  )
