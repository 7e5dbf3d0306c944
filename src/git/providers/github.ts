import { z } from 'zod'
import { ask } from './ask.ts'
import type { Api } from './ask.ts'
import { account, gitHubApi, repos, repository } from './github-api.ts'
import type { Access, Provider } from './provider.ts'
import { isDenied, ProviderError } from './provider-error.ts'

const api = ({ baseUrl, token, ...rest }: Access): Api => ({
  ...rest,
  host: new URL(baseUrl).host,
  title: 'GitHub',
  base: baseUrl === 'https://github.com' ? 'https://api.github.com' : `${baseUrl}/api/v3`,
  headers: {
    Accept: 'application/vnd.github+json',
    'X-GitHub-Api-Version': '2022-11-28',
    Authorization: `Bearer ${token}`,
  },
})

/** GitHub, and GitHub Enterprise under an address of its own. */
export const github: Provider = {
  title: 'GitHub',
  baseUrl: 'https://github.com',
  ...gitHubApi({
    api,
    firstPage: 'per_page=100',
    hook: { name: 'web' },
    hookConfig: { insecure_ssl: '0' },
    longestStatus: 140,
  }),

  async whoIs(access) {
    const { data, headers } = await ask(api(access), {
      path: '/user',
      what: 'account',
      schema: account,
    })
    const owner = { login: data.login, id: String(data.id) }
    const scopes = headers.get('X-OAuth-Scopes')
    if (scopes === null)
      return { ...owner, rights: null, missing: await missingPermissions(access) }
    const rights = scopes
      .split(',')
      .map((scope) => scope.trim())
      .filter(Boolean)
    return { ...owner, rights, missing: rights.includes('repo') ? [] : ['repo'] }
  },

  credential: (token) => ({ username: 'x-access-token', password: token }),
}

/** A fine-grained token does not list its permissions: what answers shows them. */
async function missingPermissions(access: Access): Promise<string[]> {
  const list = { path: '/user/repos?per_page=1', what: 'list of repositories' }
  const found = await ask(api(access), { ...list, schema: z.array(repository) }).catch((error) => {
    if (isDenied(error)) return null
    throw error
  })
  if (!found) return ['Metadata: read']
  const name = found.data[0]?.full_name
  if (!name) return []
  const commits = { path: `${repos(name)}/commits?per_page=1`, what: `commits of ${name}` }
  return ask(api(access), { ...commits, schema: z.unknown() }).then(
    () => [],
    (error) => {
      if (isDenied(error)) return ['Contents: read']
      // An empty repository has none to show, and answers 409.
      if (error instanceof ProviderError && error.status === 409) return []
      throw error
    },
  )
}
