import type { Context } from 'hono'
import { AppError } from '../platform/errors.ts'
import { sameSecret } from '../platform/secrets.ts'
import { setBoundCookie, takeBoundCookie } from '../web/visitor.ts'
import { deleteAttemptsBefore } from './identity-store.ts'
import { attemptLifetime, beginOAuth } from './oauth.ts'
import type { AccountDeps } from './session.ts'

/** Sent to the paths of the login only. */
const cookie = { name: 'svc_oauth', path: '/auth' }

/** Where to send this browser, for a login or to link an account to that user; only it can come back from there. */
export function authorizationUrl(c: Context, deps: AccountDeps, userId: string | null) {
  deleteAttemptsBefore(deps.db, new Date(Date.now() - attemptLifetime))
  const { state, url } = beginOAuth(deps, { userId })
  setBoundCookie(c, deps, { ...cookie, value: state, maxAge: attemptLifetime / 1000 })
  return url.href
}

/** The state, which this browser began with; the first look at it removes the cookie. */
export function takeState(c: Context, deps: AccountDeps) {
  const held = takeBoundCookie(c, deps, cookie)
  const brought = c.req.queries('state') ?? []
  if (brought.length !== 1 || !held || !sameSecret(brought[0]!, held))
    throw new AppError(
      'bad_request',
      'This login was not begun in this browser, or has expired. Begin it again.',
    )
  return held
}
