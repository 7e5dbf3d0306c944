import { z } from 'zod'
import type { Config } from '../config.ts'
import { ask } from '../git/providers/ask.ts'
import type { Api } from '../git/providers/provider.ts'
import { ProviderError } from '../git/providers/provider-error.ts'
import { providers as gitProviders } from '../git/providers/registry.ts'
import { AppError } from '../platform/errors.ts'

type Settings = NonNullable<Config['oauth']>

export type ProviderName = Settings['provider']

/** The user at the provider, who is only identified by the id, as names and e-mails can change owners. */
export type Profile = {
  providerUserId: string
  login: string
  name: string | null
  /** Null unless the provider has verified it. */
  email: string | null
}

type Provider = {
  authorizePath: string
  tokenPath: string
  scopes: string[]
  readProfile: (api: Api) => Promise<Profile>
}

const emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

async function readUser(api: Api): Promise<Profile> {
  const schema = z.object({ id: z.int(), login: z.string(), name: z.string().nullish() })
  const user = await ask(api, { path: '/user', what: 'account', schema })
  const { id, login, name } = user.data
  const found = await ask(api, { path: '/user/emails', what: 'addresses', schema: emails })
  const email = found.data.find(({ primary, verified }) => primary && verified)?.email ?? null
  return { providerUserId: String(id), login, name: name || null, email }
}

const likeGitHub = {
  authorizePath: '/login/oauth/authorize',
  tokenPath: '/login/oauth/access_token',
  readProfile: readUser,
}

/** Endpoints from the providers' documentation. All three support PKCE with S256. */
const providers: Record<ProviderName, Provider> = {
  github: { ...likeGitHub, scopes: ['read:user', 'user:email'] },
  gitea: { ...likeGitHub, scopes: ['read:user'] },
  gitlab: {
    authorizePath: '/oauth/authorize',
    tokenPath: '/oauth/token',
    scopes: ['read_user'],
    async readProfile(api) {
      const text = z.string().nullish()
      const schema = z.object({
        id: z.int(),
        username: z.string(),
        name: text,
        email: text,
        confirmed_at: text,
      })
      const { data: user } = await ask(api, { path: '/user', what: 'account', schema })
      return {
        providerUserId: String(user.id),
        login: user.username,
        name: user.name || null,
        email: user.confirmed_at ? (user.email ?? null) : null,
      }
    },
  },
}

export const providerOf = ({ provider }: Settings) => providers[provider]

export const providerNames = { github: 'GitHub', gitlab: 'GitLab', gitea: 'Gitea' }

export async function fetchProfile(
  settings: Settings,
  { accessToken: token, ...access }: { accessToken: string; allow: string[]; signal: AbortSignal },
): Promise<Profile> {
  const { baseUrl, provider } = settings
  const api = gitProviders[provider].open({ ...access, baseUrl, token })
  const headers = { Authorization: `Bearer ${token}` } // Gitea's own scheme is for other tokens
  try {
    return await providerOf(settings).readProfile({ ...api, headers })
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const { status, message } = error // its hint is about tokens that a person created
    throw providerTrouble(
      status === null
        ? `didn’t return your profile: ${message}`
        : `responded with status ${status} when asked for your profile`,
    )
  }
}

export const providerTrouble = (what: string) =>
  new AppError('bad_gateway', `The provider ${what.replace(/\.$/, '')}. Try to log in again.`)
