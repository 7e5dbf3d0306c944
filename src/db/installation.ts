import { Failure } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Db } from './index.ts'
import { installation } from './schema.ts'

const checkContext = 'installation'
const checkText = 'davit'

/**
 * This installation's id, created at the first start. Throws when the database was sealed under another key:
 * continuing would leave every stored secret unreadable.
 */
export function openInstallation(db: Db, secrets: Secrets): string {
  const row =
    db.select().from(installation).get() ??
    db
      .insert(installation)
      .values({ keyCheck: secrets.seal(checkText, checkContext) })
      .returning()
      .get()
  checkKey(row, secrets)
  return row.id
}

/** Throws when the key isn't the one that the installation was sealed with. */
export function checkKey({ keyCheck }: { keyCheck: string }, secrets: Secrets) {
  try {
    secrets.open(keyCheck, checkContext)
  } catch (cause) {
    throw new Failure(
      'wrong_key',
      'The secrets in the database were sealed under another key.',
      'Restore the secret.key that belongs to it, or set the DAVIT_SECRET_KEY that was set before.',
      { cause },
    )
  }
}
