import type { Context } from 'hono'
import { ownChangesOf } from '../db/changes.ts'
import type { Db } from '../db/index.ts'
import type { Env, User } from '../web/factory.ts'
import { roleOfSession, roleOfToken } from './alive-store.ts'

/** Milliseconds for which an answer counts while this process changes nothing: logins expire, and others end them, too. */
const maxAge = 500

/** By the id of the session or the token, and by when the database had changed so many times. */
const answers = new Map<string, { role: User['role'] | null; changes: number; until: number }>()
const maxAnswers = 1000

/**
 * Whether the session or the API token that a request came with still holds, and its user still has
 * the role of then: asked for every event of every open stream, and so answered from memory until the
 * database changes.
 */
export function isLoginAlive(db: Db, c: Context) {
  // not `c.var`, which is made anew at every look
  const token = (c as Context<Env>).get('token')
  const id = token?.id ?? (c as Context<Env>).get('session')?.id
  if (id === undefined) return false
  const changes = ownChangesOf(db)
  const now = performance.now()
  const known = answers.get(id)
  const isFresh = known?.changes === changes && now < known.until
  const role = isFresh ? known.role : token ? roleOfToken(db, id) : roleOfSession(db, id)
  if (!isFresh) {
    if (answers.size >= maxAnswers) answers.clear()
    answers.set(id, { role, changes, until: now + maxAge })
  }
  return role !== null && role === (c as Context<Env>).get('user')?.role
}
