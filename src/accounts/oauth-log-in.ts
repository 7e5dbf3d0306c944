import { newId } from '../db/new-id.ts'
import { asWriter } from '../db/queries.ts'
import { AppError } from '../platform/errors.ts'
import { admit } from './admission.ts'
import type { AdmissionDeps } from './admission.ts'
import { registerForm } from './forms.ts'
import { getUserByIdentity, insertIdentity, updateIdentity } from './identity-store.ts'
import type { Identity } from './identity-store.ts'
import { findOAuthSettings } from './oauth.ts'
import { providerNames } from './oauth-provider.ts'
import type { Profile } from './oauth-provider.ts'
import type { AccountDeps } from './session.ts'
import { getUserByEmail, insertUser } from './store.ts'
import type { UserRow } from './store.ts'

type OAuthDeps = AccountDeps & AdmissionDeps
type Arrival = { profile: Profile; accessToken: string }

/**
 * Returns the user of a provider's profile, or a new one if registration is open. An account is only found by
 * the provider's id: a matching e-mail proves nothing.
 */
export function logInWithProfile(
  deps: OAuthDeps,
  arrival: Arrival,
): { user: UserRow; isNew: boolean } {
  const known = getUserByIdentity(deps.db, keyOf(deps, arrival.profile))
  if (!known) return { user: registerWithProfile(deps, arrival), isNew: true }
  const { user, identity } = known
  if (user.disabledAt)
    throw new AppError('forbidden', 'This account is disabled. Ask an admin to enable it.')
  updateIdentity(deps.db, { ...identity, ...sealed(deps, identity.id, arrival) })
  return { user, isNew: false }
}

export function linkProfile(deps: OAuthDeps, userId: string, arrival: Arrival) {
  const known = getUserByIdentity(deps.db, keyOf(deps, arrival.profile))
  if (known && known.user.id !== userId)
    throw new AppError(
      'conflict',
      `${known.identity.login} at the provider is linked to another account here. Unlink it there first.`,
    )
  if (!known) return addIdentity(deps, userId, arrival)
  updateIdentity(deps.db, { ...known.identity, ...sealed(deps, known.identity.id, arrival) })
  return known.identity
}

const fields = registerForm.shape

function registerWithProfile(deps: OAuthDeps, arrival: Arrival) {
  const provider = providerNames[findOAuthSettings(deps).provider]
  // data from a provider follows the same rules as a person's input
  const email = fields.email.safeParse(arrival.profile.email).data
  if (!email)
    throw new AppError(
      'forbidden',
      `${provider} reports no verified e-mail address for you. Verify one there, or register with a password.`,
    )
  if (getUserByEmail(deps.db, email))
    throw new AppError(
      'conflict',
      `Your e-mail address already has an account here. Log in with its password, then link ${provider} on your profile.`,
    )
  return asWriter(deps.db, () => {
    const { role } = admit(deps, { email })
    const name = fields.name.safeParse(arrival.profile.name).data ?? null
    const user = insertUser(deps.db, { email, name, role, passwordHash: null })
    addIdentity(deps, user.id, arrival)
    return user
  })
}

function addIdentity(deps: OAuthDeps, userId: string, arrival: Arrival) {
  const id = newId()
  return insertIdentity(deps.db, {
    ...keyOf(deps, arrival.profile),
    ...sealed(deps, id, arrival),
    id,
    userId,
  })
}

const keyOf = (deps: OAuthDeps, { providerUserId }: Profile) => {
  const { provider, baseUrl } = findOAuthSettings(deps)
  return { provider, baseUrl, providerUserId }
}

const sealed = (
  { secrets }: OAuthDeps,
  id: string,
  { profile, accessToken }: Arrival,
): Pick<Identity, 'login' | 'accessToken'> => ({
  login: profile.login,
  accessToken: secrets.seal(accessToken, `identity ${id}`),
})
