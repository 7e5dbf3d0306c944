import {
  CodeChallengeMethod,
  generateCodeVerifier,
  generateState,
  OAuth2Client,
  OAuth2Tokens,
} from 'arctic'
import type { Context } from 'hono'
import { originOf } from '../config.ts'
import type { Config } from '../config.ts'
import { AppError, notFound } from '../platform/errors.ts'
import { pinnedFetch } from '../platform/pinned-fetch.ts'
import { hashToken, sameSecret } from '../platform/secrets.ts'
import { setBoundCookie, takeBoundCookie } from '../web/visitor.ts'
import { deleteAttemptsBefore, insertAttempt, takeAttempt } from './identity-store.ts'
import { providerOf, providerTrouble } from './oauth-provider.ts'
import type { AccountDeps } from './session.ts'

/** In milliseconds: the browser must return from the provider within this time. */
const attemptLifetime = 600_000

/** Only sent to the login's paths. */
const cookie = { name: 'svc_oauth', path: '/auth' }

export function findOAuthSettings({ config }: AccountDeps) {
  if (!config.oauth) throw notFound('page')
  return config.oauth
}

/** The provider's URL for a login, or to link an account to that user. Only this browser can complete it. */
export function authorizationUrl(c: Context, deps: AccountDeps, userId: string | null) {
  const { db, secrets, config } = deps
  const settings = findOAuthSettings(deps)
  const provider = providerOf(settings)
  const state = generateState()
  const verifier = generateCodeVerifier()
  const stateHash = hashToken(state)
  deleteAttemptsBefore(db, new Date(Date.now() - attemptLifetime))
  insertAttempt(db, { stateHash, userId, verifier: secrets.seal(verifier, stateHash) })
  setBoundCookie(c, deps, { ...cookie, value: state, maxAge: attemptLifetime / 1000 })
  const client = new OAuth2Client(settings.clientId, settings.clientSecret, callbackUrl(config))
  return client.createAuthorizationURLWithPKCE(
    settings.baseUrl + provider.authorizePath,
    state,
    CodeChallengeMethod.S256,
    verifier,
    provider.scopes,
  ).href
}

/** Returns the attempt that this browser started, once. Throws when it is unknown, used or expired. */
export function takeOAuthAttempt(c: Context, deps: AccountDeps) {
  const held = takeBoundCookie(c, deps, cookie)
  const states = c.req.queries('state') ?? []
  if (states.length !== 1 || !held || !sameSecret(states[0]!, held))
    throw new AppError(
      'bad_request',
      'This login wasn’t started in this browser, or has expired. Try to log in again.',
    )
  const stateHash = hashToken(held)
  const attempt = takeAttempt(deps.db, stateHash)
  if (!attempt || Math.abs(Date.now() - attempt.createdAt.getTime()) > attemptLifetime)
    throw new AppError(
      'bad_request',
      'This login has expired or was used before. Try to log in again.',
    )
  return { userId: attempt.userId, verifier: deps.secrets.open(attempt.verifier, stateHash) }
}

/** Exchanges the code for an access token. GitHub responds with 200 even when it refuses. */
export async function exchangeCode(
  deps: AccountDeps,
  { code, verifier, signal }: { code: string; verifier: string; signal: AbortSignal },
) {
  const settings = findOAuthSettings(deps)
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: settings.clientId,
    client_secret: settings.clientSecret,
    redirect_uri: callbackUrl(deps.config),
    code,
    code_verifier: verifier,
  })
  const response = await pinnedFetch(
    settings.baseUrl + providerOf(settings).tokenPath,
    {
      method: 'POST',
      headers: {
        Accept: 'application/json',
        'Content-Type': 'application/x-www-form-urlencoded',
        'User-Agent': 'davit',
      },
      body: body.toString(),
    },
    { allow: deps.config.allowHosts, signal, maxBytes: 1024 * 1024 },
  )
  const answer: unknown = await response.json().catch(() => null)
  try {
    return new OAuth2Tokens(answer as object).accessToken()
  } catch {
    throw providerTrouble('refused the login')
  }
}

/** From the settings, never from a request's Host header. */
const callbackUrl = (config: Config) => `${originOf(config)}/auth/oauth/callback`
