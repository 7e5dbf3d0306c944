import { join } from 'node:path'
import { installationIn, verifyDatabase } from '../db/copy.ts'
import { checkKey } from '../db/installation.ts'
import { Failure } from '../platform/errors.ts'
import { Secrets, readKeyFile } from '../platform/secrets.ts'
import type { Manifest } from './format.ts'

/**
 * Whether files that were taken out of a backup are what it says: each database is read whole, its rows
 * are counted again, and the key opens what is sealed. Throws otherwise.
 */
export function verify(
  directory: string,
  { files, key, instanceId }: Manifest,
  { secretKey }: { secretKey: string | null },
) {
  for (const { name, rows } of files)
    if (rows && !Bun.deepEquals(verifyDatabase(join(directory, name)), rows))
      throw untrue(`${name} has other rows than the backup says`)
  const installation = installationIn(join(directory, 'davit.db'))
  if (installation?.id !== instanceId) throw untrue('it is of another installation than it says')
  const text = key === 'file' ? readKeyFile(join(directory, 'secret.key')) : secretKey
  if (text === null) throw keyNotGiven()
  checkKey(installation, new Secrets(text))
}

const untrue = (why: string) =>
  new Failure('backup_untrue', `The backup is not whole: ${why}.`, 'Make it again.')

const keyNotGiven = () =>
  new Failure(
    'key_not_given',
    'The key of this backup is not in it: it was set as DAVIT_SECRET_KEY.',
    'Set the same DAVIT_SECRET_KEY here, then restore again.',
  )
