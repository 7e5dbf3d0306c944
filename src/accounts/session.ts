import type { Context } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import type { Config } from '../config.ts'
import { unlessFull } from '../db/full.ts'
import type { Db } from '../db/index.ts'
import { AppError } from '../platform/errors.ts'
import { limits } from '../platform/limits.ts'
import { hashToken, randomToken } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import { cookieOptions, cookieValues, hostCookie } from '../web/cookies.ts'
import { giveCsrfToken } from '../web/csrf.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { endTheFuture, tolerance } from './future-store.ts'
import { readBearer } from './bearer.ts'
import {
  deleteExpiredSessions,
  deleteSession,
  deleteStaleSessions,
  getSession,
  insertSession,
  setSessionSeen,
} from './store.ts'
import type { SessionRow, UserRow } from './store.ts'

/** What logins and identities need. */
export type AccountDeps = { db: Db; secrets: Secrets; config: Config }

/** Over HTTPS only the name with the prefix counts, so that nothing without TLS can plant a session. */
const cookieName = ({ config }: Pick<AccountDeps, 'config'>) => hostCookie('svc_session', config)

const day = 24 * 3_600_000
/** Milliseconds of life, given anew when half of them are gone. */
const lifetime = 30 * day
/** Milliseconds between two notes of when a session was last seen: a write for each request would be dear. */
const seenEvery = 60_000

/**
 * Fills `user`, and `session` from the cookie or `token` from the header, with null where there is
 * none. The cookies of a request with a token are not read. Refuses only a token that is not valid.
 */
export const loadSession = (deps: AccountDeps) =>
  factory.createMiddleware(async function readSession(c, next) {
    const shown = readBearer(c, deps.db)
    c.set('token', shown?.token ?? null)
    if (shown) {
      c.set('session', null)
      c.set('user', shown.user)
      return next()
    }
    const live = cookieValues(c, cookieName(deps)).flatMap((token) => {
      const found = getSession(deps.db, hashToken(token))
      return found ? [{ ...found, token }] : []
    })
    const found = live.at(-1) // one before it was planted under a longer path
    c.set('session', found?.session ?? null)
    c.set('user', found?.user ?? null)
    if (found) keepAlive(c, deps, found)
    await next()
  })

/** Logs the user in on this browser: always a new token, and the session it replaces ends. */
export function startSession(c: Context, deps: AccountDeps, user: UserRow) {
  if (user.disabledAt)
    throw new AppError('forbidden', 'This account is disabled. Ask an admin to enable it.')
  const { session: replaced, address } = (c as Context<Env>).var
  deleteExpiredSessions(deps.db)
  endTheFuture(deps.db)
  if (replaced) deleteSession(deps.db, replaced.id)
  deleteStaleSessions(deps.db, { userId: user.id, keep: limits.sessions - 1 })
  const token = randomToken()
  const now = Date.now()
  const session = insertSession(deps.db, {
    userId: user.id,
    tokenHash: hashToken(token),
    userAgent: (c.req.header('User-Agent') ?? '').slice(0, 256),
    address,
    lastSeenAt: new Date(now),
    expiresAt: new Date(now + lifetime),
  })
  c.set('session', session)
  c.set('user', { id: user.id, email: user.email, name: user.name, role: user.role })
  giveSessionCookie(c, deps, token)
  giveCsrfToken(c, deps)
}

/** Logs this browser out. */
export function endSession(c: Context, deps: AccountDeps) {
  const { session } = (c as Context<Env>).var
  if (session) deleteSession(deps.db, session.id)
  c.set('session', null)
  c.set('user', null)
  deleteCookie(c, cookieName(deps), sessionCookie(deps))
  giveCsrfToken(c, deps)
}

function keepAlive(
  c: Context,
  deps: AccountDeps,
  { session, token }: { session: SessionRow; token: string },
) {
  const now = Date.now()
  const since = now - session.lastSeenAt.getTime()
  if (since < seenEvery && since > -tolerance) return
  const left = session.expiresAt.getTime() - now
  const isRenewed = left < lifetime / 2 || left > lifetime + tolerance
  const expiresAt = isRenewed ? new Date(now + lifetime) : session.expiresAt
  unlessFull(() => {
    setSessionSeen(deps.db, { id: session.id, lastSeenAt: new Date(now), expiresAt })
    if (isRenewed) giveSessionCookie(c, deps, token)
  })
}

const giveSessionCookie = (c: Context, deps: AccountDeps, token: string) =>
  setCookie(c, cookieName(deps), token, { ...sessionCookie(deps), maxAge: lifetime / 1000 })

const sessionCookie = ({ config }: AccountDeps) => ({ ...cookieOptions(config), httpOnly: true })
