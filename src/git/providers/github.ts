import { z } from 'zod'
import { ask } from './ask.ts'
import type { Api } from './ask.ts'
import { readAll } from './pages.ts'
import type { Access, Provider, Repository } from './provider.ts'
import { isDenied, ProviderError } from './provider-error.ts'
import { createHook, deleteHook, findHook, repos } from './repository-hooks.ts'

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

  async whoIs(access) {
    const { data, headers } = await ask(api(access), {
      path: '/user',
      what: 'account',
      schema: user,
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

  listRepositories: (access) =>
    readAll(api(access), {
      path: '/user/repos?per_page=100',
      what: 'list of repositories',
      schema: repository.transform((found) => repositoryOf(found, access)),
      key: ({ fullName }) => fullName,
    }),

  listBranches: (access, named) => listRefs(access, { ...named, kind: 'branches' }),
  listTags: (access, named) => listRefs(access, { ...named, kind: 'tags' }),

  async getDefaultBranch(access, { repository: name }) {
    const what = `repository ${name}`
    const { data } = await ask(api(access), { path: repos(name), what, schema: repository })
    return data.default_branch ?? null
  },

  cloneUrl: (baseUrl, { repository }) => `${baseUrl}/${repository}.git`,
  credential: (token) => ({ username: 'x-access-token', password: token }),

  createWebhook(access, { repository, url, secret }) {
    const config = { url, secret, content_type: 'json', insecure_ssl: '0' }
    const body = { name: 'web', active: true, events: ['push'], config }
    return createHook(api(access), { repository, url, body })
  },

  findWebhook: (access, named) => findHook(api(access), { ...named, firstPage: 'per_page=100' }),
  deleteWebhook: (access, named) => deleteHook(api(access), named),

  async setCommitStatus(access, { repository, commit, context, state, description, url }) {
    await ask(api(access), {
      method: 'POST',
      path: `${repos(repository)}/statuses/${encodeURIComponent(commit)}`,
      what: `status of a commit of ${repository}`,
      body: { state, description: description.slice(0, 140), target_url: url, context },
      schema: z.unknown(),
    })
  },
}

const user = z.object({ login: z.string(), id: z.number() })

const repository = z.object({
  full_name: z.string(),
  default_branch: z.string().nullish(),
  private: z.boolean(),
})

const repositoryOf = (found: z.output<typeof repository>, { baseUrl }: Access): Repository => ({
  fullName: found.full_name,
  cloneUrl: github.cloneUrl(baseUrl, { repository: found.full_name }),
  defaultBranch: found.default_branch || null,
  private: found.private,
})

const listRefs = (access: Access, options: { repository: string; kind: 'branches' | 'tags' }) =>
  readAll(api(access), {
    path: `${repos(options.repository)}/${options.kind}?per_page=100`,
    what: `${options.kind} of ${options.repository}`,
    schema: z
      .object({ name: z.string(), commit: z.object({ sha: z.string() }) })
      .transform(({ name, commit }) => ({ name, commit: commit.sha })),
    key: ({ name }) => name,
  })

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
