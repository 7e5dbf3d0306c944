import { z } from 'zod'
import { ask } from './ask.ts'
import { commitStatuses } from './checks.ts'
import { account, gitHubLike, newHook } from './github-like.ts'
import { ProviderError } from './provider-error.ts'
import { restProvider } from './rest.ts'

/** Forgejo is included: it kept Gitea's API. */
export const gitea = restProvider({
  ...gitHubLike,
  title: 'Gitea',
  baseUrl: null,
  api: (baseUrl, token) => ({
    base: `${baseUrl}/api/v1`,
    headers: { Authorization: `token ${token}` },
  }),
  username: 'oauth2',
  firstPage: 'limit=50&page=1',
  repositories: '/user/repos?limit=50&page=1',
  checks: (asked) => commitStatuses(asked, 'limit=50'),
  newHook: ({ pulls, ...config }) => {
    const ofPulls = pulls ? ['pull_request', 'pull_request_sync'] : []
    return newHook({ type: 'gitea' }, config, [...ofPulls, 'status'])
  },

  async whoIs(api) {
    // Gitea doesn't report the scopes of a token, but each refusal names the one that is needed.
    const user = { path: '/user', what: 'account', schema: account }
    const list = { path: '/user/repos?limit=1', what: 'list of repositories' }
    const [owner, repositories] = await Promise.all([
      ask(api, user).catch(deniedFor('read:user')),
      ask(api, { ...list, schema: z.unknown() }).catch(deniedFor('read:repository')),
    ])
    const missing = [owner, repositories].flatMap((found) =>
      'missing' in found ? found.missing : [],
    )
    const login = 'data' in owner ? owner.data.login : null
    return { login, rights: null, missing: [...new Set(missing)] }
  },
})

const deniedFor = (right: string) => (error: unknown) => {
  if (!(error instanceof ProviderError && error.reason === 'rights')) throw error
  return { missing: error.needed.length > 0 ? error.needed : [right] }
}
