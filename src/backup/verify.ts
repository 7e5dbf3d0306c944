import { join } from 'node:path'
import { installationIn, verifyDatabase } from '../db/copy.ts'
import { checkKey } from '../db/installation.ts'
import { Failure } from '../platform/errors.ts'
import { Secrets, readKeyFile } from '../platform/secrets.ts'
import type { Manifest } from './format.ts'

/** Reads each database completely, counts rows, and opens secrets with the key. Throws if any of it fails. */
export function verify(
  directory: string,
  { files, key, instanceId }: Manifest,
  { secretKey }: { secretKey: string | null },
) {
  for (const { name, rows } of files)
    if (rows && !Bun.deepEquals(verifyDatabase(join(directory, name)), rows))
      throw untrue(`${name} doesn’t have the rows that the backup lists`)
  const installation = installationIn(join(directory, 'davit.db'))
  if (installation?.id !== instanceId)
    throw untrue('it belongs to another installation than it says')
  const text = key === 'file' ? readKeyFile(join(directory, 'secret.key')) : secretKey
  if (text === null) throw keyNotGiven()
  checkKey(installation, new Secrets(text))
}

const untrue = (why: string) =>
  new Failure('backup_untrue', `The backup is incomplete: ${why}.`, 'Make a new backup.')

const keyNotGiven = () =>
  new Failure(
    'key_not_given',
    'This backup doesn’t include its key: it was set as DAVIT_SECRET_KEY.',
    'Set the same DAVIT_SECRET_KEY here, then restore again.',
  )
