import { z } from 'zod'
import type { Config } from '../config.ts'
import { AppError } from '../platform/errors.ts'
import { pinnedFetch } from '../platform/pinned-fetch.ts'

type Settings = NonNullable<Config['oauth']>

export type ProviderName = Settings['provider']

/** Who came back from the provider. The id is what identifies them: names and e-mails change hands. */
export type Profile = {
  providerUserId: string
  login: string
  name: string | null
  /** Only one that the provider has verified; else null. */
  email: string | null
}

type Ask = (path: string) => Promise<unknown>

type Provider = {
  authorizePath: string
  tokenPath: string
  scopes: string[]
  /** Of the API, for the base URL of the provider's pages. */
  api: (baseUrl: string) => string
  readProfile: (ask: Ask) => Promise<Profile>
}

const emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

async function primaryEmail(ask: Ask, path: string) {
  const found = emails.parse(await ask(path))
  return found.find(({ primary, verified }) => primary && verified)?.email ?? null
}

const named = { login: z.string(), name: z.string().nullish() }

const readUser =
  (emailsPath: string) =>
  async (ask: Ask): Promise<Profile> => {
    const user = z.object({ ...named, id: z.int() }).parse(await ask('/user'))
    const email = await primaryEmail(ask, emailsPath)
    return { providerUserId: String(user.id), login: user.login, name: user.name || null, email }
  }

/** Endpoints as the providers' documentation gives them; all three take PKCE with S256. */
const providers: Record<ProviderName, Provider> = {
  github: {
    authorizePath: '/login/oauth/authorize',
    tokenPath: '/login/oauth/access_token',
    scopes: ['read:user', 'user:email'],
    api: (base) => (base === 'https://github.com' ? 'https://api.github.com' : `${base}/api/v3`),
    readProfile: readUser('/user/emails'),
  },
  gitlab: {
    authorizePath: '/oauth/authorize',
    tokenPath: '/oauth/token',
    scopes: ['read_user'],
    api: (base) => `${base}/api/v4`,
    async readProfile(ask) {
      const user = z
        .object({
          id: z.int(),
          username: z.string(),
          name: z.string().nullish(),
          email: z.string().nullish(),
          confirmed_at: z.string().nullish(),
        })
        .parse(await ask('/user'))
      return {
        providerUserId: String(user.id),
        login: user.username,
        name: user.name || null,
        email: user.confirmed_at ? (user.email ?? null) : null,
      }
    },
  },
  gitea: {
    authorizePath: '/login/oauth/authorize',
    tokenPath: '/login/oauth/access_token',
    scopes: ['read:user'],
    api: (base) => `${base}/api/v1`,
    readProfile: readUser('/user/emails'),
  },
}

export const providerOf = ({ provider }: Settings) => providers[provider]

/** How the provider is called on a button. */
export const providerNames = { github: 'GitHub', gitlab: 'GitLab', gitea: 'Gitea' }

/** Asks the provider who the bearer of the token is. */
export async function fetchProfile(
  settings: Settings,
  { accessToken, allow, signal }: { accessToken: string; allow: string[]; signal: AbortSignal },
): Promise<Profile> {
  const { api, readProfile } = providerOf(settings)
  const ask = async (path: string) => {
    const headers = {
      Authorization: `Bearer ${accessToken}`,
      Accept: 'application/json',
      'User-Agent': 'davit',
    }
    const pinning = { allow, signal, maxBytes: 1024 * 1024 }
    const response = await pinnedFetch(`${api(settings.baseUrl)}${path}`, { headers }, pinning)
    if (!response.ok) throw providerTrouble(`answered ${response.status} when asked who you are`)
    return response.json().catch(() => {
      throw providerTrouble('answered something that is not JSON')
    })
  }
  try {
    return await readProfile(ask)
  } catch (error) {
    if (error instanceof z.ZodError) throw providerTrouble('left out who you are')
    throw error
  }
}

export const providerTrouble = (what: string) =>
  new AppError('bad_gateway', `The provider ${what}. Try to log in again.`)
