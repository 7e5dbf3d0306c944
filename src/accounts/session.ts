import type { Context } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import type { Config } from '../config.ts'
import { unlessFull } from '../db/failures.ts'
import type { Db } from '../db/index.ts'
import { AppError } from '../platform/errors.ts'
import { limits } from '../platform/limits.ts'
import { hashToken, randomToken } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import { cookieOptions, cookieValues, hostCookie } from '../web/cookies.ts'
import { setCsrfToken } from '../web/csrf.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import {
  resetFutureTimes,
  tolerance,
  deleteExpiredSessions,
  deleteSession,
  deleteStaleSessions,
  getSession,
  insertSession,
  roleOf,
  setSessionSeen,
} from './store.ts'
import type { SessionRow, UserRow } from './store.ts'
import { getToken, setTokenUsed } from './token-store.ts'
import { clientOf } from '../web/client.ts'
import { hasHandler } from '../web/form-method.ts'
import { notLoggedIn } from '../web/user-of.ts'
import type { VisitorDeps } from '../web/visitor.ts'
import { rememberPage } from './next-page.ts'

/** What logins and identities need. */
export type AccountDeps = { db: Db; secrets: Secrets; config: Config }

/** Over HTTPS only the name with the prefix counts, so that nothing without TLS can plant a session. */
const cookieName = ({ config }: Pick<AccountDeps, 'config'>) => hostCookie('svc_session', config)

const day = 24 * 3_600_000
/** Milliseconds of life, renewed when half of them are gone. */
const lifetime = 30 * day
/** Milliseconds between two notes of when a session or token was last used: a write for each request would be dear. */
const noteEvery = 60_000

/**
 * Fills `user` and `isLoginAlive`, and `session` from the cookie or `token` from the header, with null
 * where there is none. The cookies of a request with a token are not read. Refuses only a token that is
 * not valid.
 */
export const loadSession = (deps: AccountDeps) =>
  factory.createMiddleware(async function readSession(c, next) {
    c.set('isLoginAlive', () => isLoginAlive(deps.db, c))
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

/**
 * Whether the session or the API token that a request came with still holds, and its user still has
 * the role of then: asked for every open stream after each change of logins, and every few seconds.
 */
export function isLoginAlive(db: Db, c: Context) {
  const login = c as Context<Env>
  const role = roleOf(db, { token: login.get('token'), session: login.get('session') })
  return role !== null && role === login.get('user')?.role
}

/** Logs the user in on this browser: always a new token, and the session it replaces ends. */
export function startSession(c: Context, deps: AccountDeps, user: UserRow) {
  if (user.disabledAt)
    throw new AppError('forbidden', 'This account is disabled. Ask an admin to enable it.')
  const { session: replaced, address } = (c as Context<Env>).var
  deleteExpiredSessions(deps.db)
  resetFutureTimes(deps.db)
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
  setSessionCookie(c, deps, token)
  setCsrfToken(c, deps)
}

/** Logs this browser out. */
export function endSession(c: Context, deps: AccountDeps) {
  const { session } = (c as Context<Env>).var
  if (session) deleteSession(deps.db, session.id)
  c.set('session', null)
  c.set('user', null)
  deleteCookie(c, cookieName(deps), sessionCookie(deps))
  setCsrfToken(c, deps)
}

function keepAlive(
  c: Context,
  deps: AccountDeps,
  { session, token }: { session: SessionRow; token: string },
) {
  const now = Date.now()
  if (isFresh(session.lastSeenAt, now)) return
  const left = session.expiresAt.getTime() - now
  const isRenewed = left < lifetime / 2 || left > lifetime + tolerance
  const expiresAt = isRenewed ? new Date(now + lifetime) : session.expiresAt
  unlessFull(() => {
    setSessionSeen(deps.db, { id: session.id, lastSeenAt: new Date(now), expiresAt })
    if (isRenewed) setSessionCookie(c, deps, token)
  })
}

const setSessionCookie = (c: Context, deps: AccountDeps, token: string) =>
  setCookie(c, cookieName(deps), token, { ...sessionCookie(deps), maxAge: lifetime / 1000 })

const sessionCookie = ({ config }: AccountDeps) => ({ ...cookieOptions(config), httpOnly: true })

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
  const { id, lastUsedAt } = found.token
  const now = Date.now()
  if (!lastUsedAt || !isFresh(lastUsedAt, now))
    unlessFull(() => setTokenUsed(db, { id, at: new Date(now) }))
  return found
}

/** Whether it was noted just now. */
function isFresh(at: Date, now: number) {
  const since = now - at.getTime()
  return since < noteEvery && since > -tolerance
}

/** Lets only who is logged in pass. What does not exist is answered so without a login. */
export const requireUser = (deps: VisitorDeps) =>
  factory.createMiddleware(async function checkUser(c, next) {
    if (c.var.user || !hasHandler(c)) return next()
    if (clientOf(c) !== 'program') rememberPage(c, deps)
    if (clientOf(c) === 'browser') return c.redirect('/login', 303)
    if (clientOf(c) === 'partial') c.header('HX-Redirect', '/login')
    throw notLoggedIn()
  })
