import type { Context } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import type { Config } from '../config.ts'
import { unlessFull } from '../db/failures.ts'
import type { Db } from '../db/index.ts'
import { AppError } from '../platform/errors.ts'
import { limits } from '../platform/limits.ts'
import { hashToken, randomToken } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import { cookieOptions, cookieValues, hostCookie, isHttps } from '../web/cookies.ts'
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
  getUserByEmail,
  insertSession,
  roleOf,
  setSessionSeen,
} from './store.ts'
import type { SessionRow, UserRow } from './store.ts'
import { getToken, setTokenUsed } from './token-store.ts'
import { clientOf } from '../web/client.ts'
import { hasHandler } from '../web/form-method.ts'
import { isHealthCheck } from '../web/health.ts'
import { Said } from '../web/said.ts'
import { notLoggedIn } from '../web/user-of.ts'
import type { VisitorDeps } from '../web/visitor.ts'
import { knownBrowser, rememberBrowser } from './known-browser.ts'
import { rememberPage } from './next-page.ts'
import { noteLogin } from './notices.ts'

export type AccountDeps = { db: Db; secrets: Secrets; config: Config }

/** Over HTTPS only the name with the prefix counts, so that nothing without TLS can plant a session. */
const cookieName = (c: Context, { config }: Pick<AccountDeps, 'config'>) =>
  hostCookie('svc_session', { isSecure: isHttps(c, config) })

const day = 24 * 3_600_000
/** In milliseconds; renewed after half of it. */
const lifetime = 30 * day
/** In milliseconds, between updates of a login's last use, since a write per request would be expensive. */
const noteEvery = 60_000

/**
 * Sets `user`, `isLoginAlive`, and `session` from the cookie or `token` from the header, or null. Ignores
 * cookies of a request with a token. Only throws for an invalid token, but not in a health check.
 */
export function loadSession(deps: AccountDeps) {
  const said = new Said()
  return factory.createMiddleware(async function readSession(c, next) {
    c.set('said', said)
    c.set('isLoginAlive', () => isLoginAlive(deps.db, c))
    const names = new Map<string, string | null>()
    c.set('nameOf', (email) =>
      names.getOrInsertComputed(email, () => getUserByEmail(deps.db, email)?.name ?? null),
    )
    const shown = isHealthCheck(c.req.path) ? null : readBearer(c, deps.db)
    c.set('token', shown?.token ?? null)
    if (shown) {
      c.set('session', null)
      c.set('user', shown.user)
      return next()
    }
    const live = cookieValues(c, cookieName(c, deps)).flatMap((token) => {
      const found = getSession(deps.db, hashToken(token))
      return found ? [{ ...found, token }] : []
    })
    const found = live.at(-1) // an earlier one was set under a longer path
    c.set('session', found?.session ?? null)
    c.set('user', found?.user ?? null)
    if (found) keepAlive(c, deps, found)
    await next()
  })
}

/**
 * True while the request's session or API token is valid and its user has the same role. Checked for every
 * open stream after each change of logins, and every few seconds.
 */
export function isLoginAlive(db: Db, c: Context) {
  const login = c as Context<Env>
  const role = roleOf(db, { token: login.get('token'), session: login.get('session') })
  return role !== null && role === login.get('user')?.role
}

/** Always uses a new token, and ends the session that it replaces. */
export function startSession(
  c: Context,
  deps: AccountDeps,
  user: UserRow,
  { isLogin = false }: { isLogin?: boolean } = {},
) {
  if (user.disabledAt)
    throw new AppError('forbidden', 'This account is disabled. Ask an admin to enable it.')
  const { session: replaced, address } = (c as Context<Env>).var
  deleteExpiredSessions(deps.db)
  resetFutureTimes(deps.db)
  const userAgent = (c.req.header('User-Agent') ?? '').slice(0, 256)
  if (isLogin && knownBrowser(c, deps, user) === null)
    noteLogin(deps.db, user, { userAgent, address })
  if (replaced) deleteSession(deps.db, replaced.id)
  deleteStaleSessions(deps.db, { userId: user.id, keep: limits.sessions - 1 })
  const token = randomToken()
  const now = Date.now()
  const session = insertSession(deps.db, {
    userId: user.id,
    tokenHash: hashToken(token),
    userAgent,
    address,
    lastSeenAt: new Date(now),
    expiresAt: new Date(now + lifetime),
  })
  c.set('session', session)
  c.set('user', { id: user.id, email: user.email, name: user.name, role: user.role })
  setSessionCookie(c, deps, token)
  rememberBrowser(c, deps, user)
  setCsrfToken(c, deps)
}

export function endSession(c: Context, deps: AccountDeps) {
  const { session } = (c as Context<Env>).var
  if (session) deleteSession(deps.db, session.id)
  c.set('session', null)
  c.set('user', null)
  deleteCookie(c, cookieName(c, deps), sessionCookie(c, deps))
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
  setCookie(c, cookieName(c, deps), token, { ...sessionCookie(c, deps), maxAge: lifetime / 1000 })

const sessionCookie = (c: Context, { config }: AccountDeps) => ({
  ...cookieOptions(c, config),
  httpOnly: true,
})

/**
 * Reads the API token from `Authorization: Bearer`, the only accepted place. Returns it with its user; null
 * without one. Throws when it is invalid for any reason.
 */
export function readBearer(c: Context, db: Db) {
  const header = c.req.header('Authorization') ?? ''
  if (!/^bearer\b/i.test(header)) return null
  const found = getToken(db, hashToken(header.slice('bearer'.length).trim()))
  if (!found) throw badToken(c)
  const { id, lastUsedAt } = found.token
  const now = Date.now()
  if (!lastUsedAt || !isFresh(lastUsedAt, now))
    unlessFull(() => setTokenUsed(db, { id, at: new Date(now) }))
  return found
}

function badToken(c: Context) {
  c.header('WWW-Authenticate', 'Bearer')
  return new AppError(
    'unauthorized',
    'This API token isn’t valid: it is mistyped, was revoked or has expired. Create another one under Settings, Tokens.',
  )
}

/** True when it was updated recently. */
function isFresh(at: Date, now: number) {
  const since = now - at.getTime()
  return since < noteEvery && since > -tolerance
}

/**
 * Waits for the body of a change, for which its sender may take long, and reads the login again: one that has
 * ended by then counts as none, and of a changed role the new one.
 */
export const readLoginAgain = ({ db }: Pick<AccountDeps, 'db'>) =>
  factory.createMiddleware(async function readRole(c, next) {
    const { user, token, session } = c.var
    if (user && c.req.method !== 'GET' && hasHandler(c)) {
      await c.req.arrayBuffer()
      const role = roleOf(db, { token, session })
      if (token && !role) throw badToken(c)
      if (!role) c.set('session', null)
      c.set('user', role && { ...user, role })
    }
    await next()
  })

/** Requires a login. A missing page is not found even without one. */
export const requireUser = (deps: VisitorDeps) =>
  factory.createMiddleware(async function checkUser(c, next) {
    if (c.var.user || !hasHandler(c)) return next()
    if (clientOf(c) !== 'program') rememberPage(c, deps)
    if (clientOf(c) === 'browser') return c.redirect('/login', 303)
    if (clientOf(c) === 'partial') c.header('HX-Redirect', '/login')
    throw notLoggedIn()
  })
