import { z } from 'zod'
import { ask } from './ask.ts'
import type { Api } from './ask.ts'
import { account, gitHubApi } from './github-api.ts'
import type { Access, Provider } from './provider.ts'
import { ProviderError } from './provider-error.ts'

const api = ({ baseUrl, token, ...rest }: Access): Api => ({
  ...rest,
  host: new URL(baseUrl).host,
  title: 'Gitea',
  base: `${baseUrl}/api/v1`,
  headers: { Authorization: `token ${token}` },
})

/** Gitea, and Forgejo, which kept its API. */
export const gitea: Provider = {
  title: 'Gitea',
  baseUrl: null,
  ...gitHubApi({
    api,
    firstPage: 'limit=50&page=1',
    hook: { type: 'gitea' },
    hookConfig: {},
    longestStatus: 255,
  }),

  async whoIs(access) {
    // Gitea does not tell the rights of a token, but each refusal names the one that it takes.
    const user = { path: '/user', what: 'account', schema: account }
    const list = { path: '/user/repos?limit=1', what: 'list of repositories' }
    const [owner, repositories] = await Promise.all([
      ask(api(access), user).catch(deniedFor('read:user')),
      ask(api(access), { ...list, schema: z.unknown() }).catch(deniedFor('read:repository')),
    ])
    const missing = [owner, repositories].flatMap((found) =>
      'missing' in found ? found.missing : [],
    )
    const told = 'data' in owner ? owner.data : null
    return {
      login: told?.login ?? null,
      id: told ? String(told.id) : null,
      rights: null,
      missing: [...new Set(missing)],
    }
  },

  credential: (token) => ({ username: 'oauth2', password: token }),
}

const deniedFor = (right: string) => (error: unknown) => {
  if (!(error instanceof ProviderError && error.reason === 'rights')) throw error
  return { missing: error.needed.length > 0 ? error.needed : [right] }
}
