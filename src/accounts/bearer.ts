import type { Context } from 'hono'
import { unlessFull } from '../db/full.ts'
import type { Db } from '../db/index.ts'
import { AppError } from '../platform/errors.ts'
import { hashToken } from '../platform/secrets.ts'
import { tolerance } from './future-store.ts'
import { getToken, setTokenUsed } from './token-store.ts'

/** Milliseconds between two notes of when a token was last used: a write for each request would be dear. */
const usedEvery = 60_000

/**
 * The API token that a request shows in `Authorization: Bearer`, the only place where one counts, with
 * its user; null when it shows none. Throws when it is not valid, for whatever reason.
 */
export function readBearer(c: Context, db: Db) {
  const header = c.req.header('Authorization') ?? ''
  if (!/^bearer\b/i.test(header)) return null
  const found = getToken(db, hashToken(header.slice('bearer'.length).trim()))
  if (!found) {
    c.header('WWW-Authenticate', 'Bearer')
    throw new AppError(
      'unauthorized',
      'This API token is not valid: it is mistyped, was revoked or has expired. Make another under Settings, Tokens.',
    )
  }
  noteUse(db, found.token)
  return found
}

function noteUse(db: Db, { id, lastUsedAt }: { id: string; lastUsedAt: Date | null }) {
  const now = Date.now()
  const since = lastUsedAt ? now - lastUsedAt.getTime() : Infinity
  if (since < usedEvery && since > -tolerance) return
  unlessFull(() => setTokenUsed(db, { id, at: new Date(now) }))
}
