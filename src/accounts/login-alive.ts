import type { Context } from 'hono'
import type { Db } from '../db/index.ts'
import type { Env } from '../web/factory.ts'
import { roleOf } from './store.ts'

/**
 * Whether the session or the API token that a request came with still holds, and its user still has
 * the role of then: asked for every open stream after each change of logins, and every few seconds.
 */
export function isLoginAlive(db: Db, c: Context) {
  const login = c as Context<Env>
  const role = roleOf(db, { token: login.get('token'), session: login.get('session') })
  return role !== null && role === login.get('user')?.role
}
