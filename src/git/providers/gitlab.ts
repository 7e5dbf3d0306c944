import { z } from 'zod'
import { ask } from './ask.ts'
import { pipelineJobs } from './checks.ts'
import { isDenied } from './provider-error.ts'
import type { Api } from './provider.ts'
import { restProvider } from './rest.ts'

export const gitlab = restProvider({
  title: 'GitLab',
  baseUrl: 'https://gitlab.com',
  api: (baseUrl, token) => ({
    base: `${baseUrl}/api/v4`,
    headers: { Authorization: `Bearer ${token}` },
  }),
  username: 'oauth2',
  firstPage: 'per_page=100',
  repositories: '/projects?membership=true&order_by=id&per_page=100',
  noun: 'project',
  list: 'list of projects',
  /** With its slashes written as %2F, a path can replace a project's number. */
  path: (repository) => `/projects/${encodeURIComponent(repository)}`,
  refs: '/repository',
  repository: z
    .object({
      path_with_namespace: z.string(),
      default_branch: z.string().nullish(),
      /** Missing for users with little access to a project. */
      visibility: z.string().optional(),
    })
    .transform((found) => ({
      fullName: found.path_with_namespace,
      defaultBranch: found.default_branch || null,
      private: found.visibility !== 'public',
    })),
  ref: z
    .object({ name: z.string(), commit: z.object({ id: z.string() }) })
    .transform(({ name, commit }) => ({ name, commit: commit.id })),
  hook: z
    .object({ id: z.number(), url: z.string() })
    .transform(({ id, url }) => ({ id: String(id), url })),
  checks: pipelineJobs,
  newHook: ({ url, secret, pulls }) => ({
    ...{ url, token: secret, enable_ssl_verification: true },
    ...{ push_events: true, tag_push_events: true, pipeline_events: true },
    merge_requests_events: pulls,
  }),
  status: { context: 'name', failure: 'failed' },

  async whoIs(api) {
    const [owner, rights] = await Promise.all([
      ask(api, { path: '/user', what: 'account', schema: account }).catch(unlessDenied),
      readScopes(api),
    ])
    const login = owner?.data.username ?? null
    if (!rights) return { login, rights, missing: owner ? [] : ['api'] }
    const needed = rights.includes('api') ? [] : ['read_api', 'read_repository']
    return { login, rights, missing: needed.filter((right) => !rights.includes(right)) }
  },
})

const account = z.object({ username: z.string() })

/** Null when the token may not read itself, or is of a kind without scopes. */
async function readScopes(api: Api): Promise<string[] | null> {
  const path = '/personal_access_tokens/self'
  const schema = z.object({ scopes: z.array(z.string().max(40)).max(50) })
  const answer = await ask(api, { path, what: 'token', schema }).catch(unlessDenied)
  return answer?.data.scopes ?? null
}

function unlessDenied(error: unknown): null {
  if (isDenied(error)) return null
  throw error
}
