import type { z } from 'zod'
import type { Db } from '../db/index.ts'
import { refuseMore } from '../platform/limits.ts'
import { hashToken, randomToken } from '../platform/secrets.ts'
import type { tokenForm } from './forms.ts'
import { countTokens, insertToken } from './token-store.ts'

const day = 24 * 3_600_000

/** Makes an API token; its text is known only here and to who asked for it. */
export function makeToken(
  db: Db,
  {
    userId,
    name,
    scopes,
    expiresInDays,
  }: Omit<z.infer<typeof tokenForm>, 'currentPassword'> & { userId: string },
) {
  refuseMore('tokens', countTokens(db, userId))
  const token = `dvt_${randomToken()}`
  const expiresAt = expiresInDays ? new Date(Date.now() + expiresInDays * day) : null
  const row = insertToken(db, { userId, name, scopes, expiresAt, tokenHash: hashToken(token) })
  return { token, row }
}
