import { z } from 'zod'
import { ask } from './ask.ts'
import { checkRuns, commitStatuses } from './checks.ts'
import { account, gitHubLike, newHook } from './github-like.ts'
import { isDenied, ProviderError } from './provider-error.ts'
import type { Api } from './provider.ts'
import { restProvider } from './rest.ts'

/** Includes GitHub Enterprise, which has an address of its own. */
export const github = restProvider({
  ...gitHubLike,
  title: 'GitHub',
  baseUrl: 'https://github.com',
  api: (baseUrl, token) => ({
    base: baseUrl === 'https://github.com' ? 'https://api.github.com' : `${baseUrl}/api/v3`,
    headers: {
      Accept: 'application/vnd.github+json',
      'X-GitHub-Api-Version': '2022-11-28',
      Authorization: `Bearer ${token}`,
    },
  }),
  username: 'x-access-token',
  firstPage: 'per_page=100',
  repositories: '/user/repos?per_page=100',
  checks: async (asked) =>
    (await Promise.all([checkRuns(asked), commitStatuses(asked, 'per_page=100')])).flat(),
  newHook: ({ pulls, ...config }) => {
    const others = [...(pulls ? ['pull_request'] : []), 'check_suite', 'status']
    return newHook({ name: 'web' }, { ...config, insecure_ssl: '0' }, others)
  },

  async whoIs(api) {
    const asked = { path: '/user', what: 'account', schema: account }
    const { data: owner, headers } = await ask(api, asked)
    const scopes = headers.get('X-OAuth-Scopes')
    if (scopes === null) return { ...owner, rights: null, missing: await missingPermissions(api) }
    const rights = scopes
      .split(',')
      .map((scope) => scope.trim())
      .filter(Boolean)
    return { ...owner, rights, missing: rights.includes('repo') ? [] : ['repo'] }
  },
})

/** A fine-grained token doesn't list its permissions, so they are found by trying calls. */
async function missingPermissions(api: Api): Promise<string[]> {
  const list = { path: '/user/repos?per_page=1', what: gitHubLike.list }
  const schema = z.array(gitHubLike.repository)
  const found = await ask(api, { ...list, schema }).catch((error) => {
    if (isDenied(error)) return null
    throw error
  })
  if (!found) return ['Metadata: read']
  const name = found.data[0]?.fullName
  if (!name) return []
  const path = `${gitHubLike.path(name)}/commits?per_page=1`
  return ask(api, { path, what: `commits of ${name}`, schema: z.unknown() }).then(
    () => [],
    (error) => {
      if (isDenied(error)) return ['Contents: read']
      // An empty repository has none: GitHub responds with 409.
      if (error instanceof ProviderError && error.status === 409) return []
      throw error
    },
  )
}
