import { z } from 'zod'
import { ask } from './ask.ts'
import type { Api } from './ask.ts'
import { readAll } from './pages.ts'
import type { Access, Provider, Repository } from './provider.ts'
import { ProviderError } from './provider-error.ts'
import { createHook, deleteHook, findHook, repos } from './repository-hooks.ts'

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

  async whoIs(access) {
    // Gitea does not tell the rights of a token, but each refusal names the one that it takes.
    const account = { path: '/user', what: 'account', schema: user }
    const list = { path: '/user/repos?limit=1', what: 'list of repositories' }
    const [owner, repositories] = await Promise.all([
      ask(api(access), account).catch(deniedFor('read:user')),
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

  listRepositories: (access) =>
    readAll(api(access), {
      path: '/user/repos?limit=50&page=1',
      what: 'list of repositories',
      schema: repository.transform((found) => repositoryOf(found, access)),
      key: ({ fullName }) => fullName,
    }),

  listBranches: (access, { repository }) =>
    readAll(api(access), {
      path: `${repos(repository)}/branches?limit=50&page=1`,
      what: `branches of ${repository}`,
      schema: z
        .object({ name: z.string(), commit: z.object({ id: z.string() }) })
        .transform(({ name, commit }) => ({ name, commit: commit.id })),
      key: ({ name }) => name,
    }),

  listTags: (access, { repository }) =>
    readAll(api(access), {
      path: `${repos(repository)}/tags?limit=50&page=1`,
      what: `tags of ${repository}`,
      schema: z
        .object({ name: z.string(), commit: z.object({ sha: z.string() }) })
        .transform(({ name, commit }) => ({ name, commit: commit.sha })),
      key: ({ name }) => name,
    }),

  async getDefaultBranch(access, { repository: name }) {
    const what = `repository ${name}`
    const { data } = await ask(api(access), { path: repos(name), what, schema: repository })
    return data.empty ? null : data.default_branch || null
  },

  cloneUrl: (baseUrl, { repository }) => `${baseUrl}/${repository}.git`,
  credential: (token) => ({ username: 'oauth2', password: token }),

  createWebhook(access, { repository, url, secret }) {
    const config = { url, secret, content_type: 'json' }
    const body = { type: 'gitea', active: true, events: ['push'], config }
    return createHook(api(access), { repository, url, body })
  },

  findWebhook: (access, named) => findHook(api(access), { ...named, firstPage: 'limit=50&page=1' }),
  deleteWebhook: (access, named) => deleteHook(api(access), named),

  async setCommitStatus(access, { repository, commit, context, state, description, url }) {
    await ask(api(access), {
      method: 'POST',
      path: `${repos(repository)}/statuses/${encodeURIComponent(commit)}`,
      what: `status of a commit of ${repository}`,
      body: { state, description: description.slice(0, 255), target_url: url, context },
      schema: z.unknown(),
    })
  },
}

const user = z.object({ login: z.string(), id: z.number() })

const repository = z.object({
  full_name: z.string(),
  default_branch: z.string().nullish(),
  private: z.boolean(),
  empty: z.boolean().optional(),
})

const repositoryOf = (found: z.output<typeof repository>, { baseUrl }: Access): Repository => ({
  fullName: found.full_name,
  cloneUrl: gitea.cloneUrl(baseUrl, { repository: found.full_name }),
  defaultBranch: found.empty ? null : found.default_branch || null,
  private: found.private,
})

const deniedFor = (right: string) => (error: unknown) => {
  if (!(error instanceof ProviderError && error.reason === 'rights')) throw error
  return { missing: error.needed.length > 0 ? error.needed : [right] }
}
