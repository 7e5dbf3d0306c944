import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { auditor } from '../audit/record.ts'
import type { Deps } from '../deps.ts'
import { AppError, Failure } from '../errors.ts'
import { sameSecret } from '../secrets.ts'
import { cookieOptions } from '../web/cookies.ts'
import { factory } from '../web/factory.ts'
import { moveOn } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { countIdentities, deleteAttemptsBefore, deleteOwnIdentity } from './identity-store.ts'
import { takeRememberedPage } from './next-page.ts'
import {
  attemptLifetime,
  beginOAuth,
  exchangeCode,
  findOAuthSettings,
  takeOAuthAttempt,
} from './oauth.ts'
import { linkProfile, logInWithProfile } from './oauth-log-in.ts'
import { fetchProfile, providerTrouble } from './oauth-provider.ts'
import { startSession } from './session.ts'
import { getUserByEmail } from './store.ts'

type OAuthDeps = Pick<Deps, 'db' | 'secrets' | 'config' | 'setupCode'>

const cookieName = 'svc_oauth'

/** Logging in with the provider, and linking it while logged in; not there while none is configured. */
export const oauthRoutes = (deps: OAuthDeps) => {
  const audit = auditor(deps.db)

  return factory
    .createApp()
    .get('/auth/oauth', (c) => {
      findOAuthSettings(deps)
      const linking = c.req.query('link') !== undefined
      deleteAttemptsBefore(deps.db, new Date(Date.now() - attemptLifetime))
      const { state, url } = beginOAuth(deps, { userId: linking ? userOf(c).id : null })
      // Lax, or the browser would not bring it back from the provider
      setCookie(c, cookieName, state, {
        ...cookieOptions(deps.config),
        path: '/auth',
        httpOnly: true,
        maxAge: attemptLifetime / 1000,
      })
      return c.redirect(url.href, 303)
    })
    .get('/auth/oauth/callback', async (c) => {
      findOAuthSettings(deps)
      const { userId, verifier } = takeOAuthAttempt(deps, takeState(c))
      const arrival = await arrive(c, deps, verifier)
      if (userId === null) {
        const { user, isNew } = logInWithProfile(deps, arrival)
        startSession(c, deps, user)
        const details = { provider: deps.config.oauth!.provider, login: arrival.profile.login }
        audit(c, isNew ? 'user.registered' : 'login.succeeded', { details })
        return c.redirect(takeRememberedPage(c), 303)
      }
      if (c.var.user?.id !== userId)
        throw new AppError('bad_request', 'You were logged out meanwhile. Log in, then link again.')
      const { id, login } = linkProfile(deps, userId, arrival)
      audit(c, 'identity.linked', { object: { kind: 'identity', id, name: login } })
      return c.redirect('/settings/profile', 303)
    })
}

/** Taking a linked login away again. */
export const identityRoutes = ({ db }: OAuthDeps) => {
  const audit = auditor(db)

  return factory.createApp().delete('/settings/identities/:id', (c) => {
    const user = getUserByEmail(db, userOf(c).email)!
    if (user.passwordHash === null && countIdentities(db, user.id) === 1)
      throw new AppError(
        'conflict',
        'This is the only way you can log in. Set a password first, then unlink it.',
      )
    const { id, login } = deleteOwnIdentity(db, { id: c.req.param('id'), userId: user.id })
    audit(c, 'identity.unlinked', { object: { kind: 'identity', id, name: login } })
    return moveOn(c, { to: '/settings/profile', json: () => ({}) })
  })
}

/** The state, which this browser began with; the cookie goes with the first look at it. */
function takeState(c: Context) {
  const held = getCookie(c, cookieName)
  deleteCookie(c, cookieName, { path: '/auth' })
  const brought = c.req.queries('state') ?? []
  if (brought.length !== 1 || !held || !sameSecret(brought[0]!, held))
    throw new AppError(
      'bad_request',
      'This login was not begun in this browser, or has expired. Begin it again.',
    )
  return held
}

async function arrive(c: Context, deps: OAuthDeps, verifier: string) {
  const { code, error } = c.req.query()
  if (error === 'access_denied')
    throw new AppError(
      'bad_request',
      'You said no at the provider. Begin again if you did not mean it.',
    )
  if (error || !code)
    throw new AppError('bad_request', 'The provider sent no login. Begin it again.')
  const { signal } = c.req.raw
  try {
    const accessToken = await exchangeCode(deps, { code, verifier, signal })
    const settings = deps.config.oauth!
    const allow = deps.config.allowHosts
    return { accessToken, profile: await fetchProfile(settings, { accessToken, allow, signal }) }
  } catch (cause) {
    if (cause instanceof Failure) throw providerTrouble(`could not be asked: ${cause.message}`)
    throw cause
  }
}
