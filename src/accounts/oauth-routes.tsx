import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import type { AdmissionDeps } from './admission.ts'
import { takeRememberedPage } from './next-page.ts'
import { authorizationUrl, exchangeCode, findOAuthSettings, takeOAuthAttempt } from './oauth.ts'
import { linkProfile, logInWithProfile } from './oauth-log-in.ts'
import { fetchProfile, providerTrouble } from './oauth-provider.ts'
import { startSession } from './session.ts'
import type { AccountDeps } from './session.ts'

type OAuthDeps = AccountDeps & AdmissionDeps

/** A login with the provider, which also completes linking. Not found unless configured. */
export const oauthRoutes = (deps: OAuthDeps) => {
  const audit = auditor(deps.db)

  return factory
    .createApp()
    .get('/auth/oauth', (c) => {
      findOAuthSettings(deps)
      if (c.var.user) return c.redirect('/dashboard', 303)
      return c.redirect(authorizationUrl(c, deps, null), 303)
    })
    .get('/auth/oauth/callback', async (c) => {
      findOAuthSettings(deps)
      const { userId, verifier } = takeOAuthAttempt(c, deps)
      const arrival = await arrive(c, deps, verifier)
      if (userId === null) {
        const { user, isNew } = logInWithProfile(deps, arrival)
        startSession(c, deps, user, { isLogin: !isNew })
        const details = { provider: deps.config.oauth!.provider, login: arrival.profile.login }
        audit(c, isNew ? 'user.registered' : 'login.succeeded', { details })
        return c.redirect(takeRememberedPage(c, deps), 303)
      }
      // the login may have ended while the provider was asked
      if (c.var.user?.id !== userId || !c.var.isLoginAlive())
        throw new AppError(
          'bad_request',
          'You were logged out meanwhile. Log in, then link the account again.',
        )
      const { id, login } = linkProfile(deps, userId, arrival)
      audit(c, 'identity.linked', { object: { kind: 'identity', id, name: login } })
      return c.redirect('/settings/profile', 303)
    })
}

async function arrive(c: Context, deps: OAuthDeps, verifier: string) {
  const { code, error } = c.req.query()
  if (error === 'access_denied')
    throw new AppError(
      'bad_request',
      'Access was denied at the provider. Try again if that was a mistake.',
    )
  if (error || !code)
    throw new AppError('bad_request', 'The provider sent no login. Try to log in again.')
  const { signal } = c.req.raw
  try {
    const accessToken = await exchangeCode(deps, { code, verifier, signal })
    const settings = deps.config.oauth!
    const allow = deps.config.allowHosts
    return { accessToken, profile: await fetchProfile(settings, { accessToken, allow, signal }) }
  } catch (cause) {
    if (cause instanceof Failure) throw providerTrouble(`couldn’t be reached: ${cause.message}`)
    throw cause
  }
}
