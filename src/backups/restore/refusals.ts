import { Failure } from '../../platform/errors.ts'
import type { Backup } from '../store.ts'

export const noSubject = ({ restore, subjectName }: Backup) =>
  new Failure(
    'restore_no_subject',
    `${restore?.into?.name ?? subjectName} was deleted.`,
    'Restore the backup into a new service, or download it.',
  )

export const nothingLike = (component: string) =>
  new Failure(
    'restore_no_server',
    `There is no database ${component} any more that the dump could be loaded into.`,
    'Add it again under that name, or restore the backup into a new service.',
  )

export const notUsed = (names: string) =>
  new Failure(
    'restore_volume_unused',
    `The backup only has ${names}, which its present version doesn’t use any more, and nothing was changed.`,
    'Give it a volume of that name again, or restore the backup into a new service.',
  )

export const noVolume = (name: string) =>
  new Failure(
    'restore_no_volume',
    `There is no volume ${name} any more, and nothing was changed.`,
    'Add it again under that name, or restore the backup into a new service.',
  )

export const overDatabase = (names: string) =>
  new Failure(
    'restore_over_database',
    `The backup has files of ${names}, which has the data of a database now: they would be put over what is loaded from its dump. Nothing was changed.`,
    'Give the database a volume of another name, or restore one database alone, which leaves all volumes as they are.',
  )
