import {
  CodeChallengeMethod,
  generateCodeVerifier,
  generateState,
  OAuth2Client,
  OAuth2Tokens,
} from 'arctic'
import { originOf } from '../config.ts'
import type { Config } from '../config.ts'
import { AppError, notFound } from '../platform/errors.ts'
import { pinnedFetch } from '../platform/pinned-fetch.ts'
import { hashToken } from '../platform/secrets.ts'
import { insertAttempt, takeAttempt } from './identity-store.ts'
import { providerOf, providerTrouble } from './oauth-provider.ts'
import type { AccountDeps } from './session.ts'

/** Milliseconds in which the browser must come back from the provider. */
export const attemptLifetime = 600_000

export function findOAuthSettings({ config }: AccountDeps) {
  if (!config.oauth) throw notFound('page')
  return config.oauth
}

/** Begins a login, or the linking of an identity to a user: where to send the browser, and the state it must bring back. */
export function beginOAuth(deps: AccountDeps, { userId }: { userId: string | null }) {
  const settings = findOAuthSettings(deps)
  const provider = providerOf(settings)
  const state = generateState()
  const verifier = generateCodeVerifier()
  const stateHash = hashToken(state)
  insertAttempt(deps.db, { stateHash, userId, verifier: deps.secrets.seal(verifier, stateHash) })
  const url = client(deps).createAuthorizationURLWithPKCE(
    settings.baseUrl + provider.authorizePath,
    state,
    CodeChallengeMethod.S256,
    verifier,
    provider.scopes,
  )
  return { state, url }
}

/** Takes the attempt that a state stands for, once; what is unknown, used or too old is refused. */
export function takeOAuthAttempt({ db, secrets }: AccountDeps, state: string) {
  const stateHash = hashToken(state)
  const attempt = takeAttempt(db, stateHash)
  if (!attempt || Math.abs(Date.now() - attempt.createdAt.getTime()) > attemptLifetime)
    throw new AppError('bad_request', 'This login has expired or was used before. Begin it again.')
  return { userId: attempt.userId, verifier: secrets.open(attempt.verifier, stateHash) }
}

/** Exchanges the code for an access token; GitHub says 200 even when it refuses. */
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
    throw providerTrouble('did not accept the login')
  }
}

const client = ({ config }: AccountDeps) =>
  new OAuth2Client(config.oauth!.clientId, config.oauth!.clientSecret, callbackUrl(config))

/** From the settings, never from what a request says of its host. */
const callbackUrl = (config: Config) => `${originOf(config)}/auth/oauth/callback`
