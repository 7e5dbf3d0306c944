import type { Context } from 'hono'
import type { Db } from '../db/index.ts'
import type { Env } from '../web/factory.ts'
import { isSessionAlive } from './store.ts'
import { isTokenAlive } from './token-store.ts'

/**
 * Whether the session or the API token that a request came with still holds: asked again and again
 * while a stream is open.
 */
export function isLoginAlive(db: Db, c: Context) {
  const { session, token } = (c as Context<Env>).var
  if (token) return isTokenAlive(db, token.id)
  return session !== null && isSessionAlive(db, session.id)
}
