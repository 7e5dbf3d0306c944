import { z } from 'zod'
import { ask } from './ask.ts'
import type { Api } from './ask.ts'
import { readAll } from './pages.ts'
import type { Access, CommitStatus, Provider, Repository } from './provider.ts'
import { isDenied, unlessGone } from './provider-error.ts'

const api = ({ baseUrl, token, ...rest }: Access): Api => ({
  ...rest,
  host: new URL(baseUrl).host,
  title: 'GitLab',
  base: `${baseUrl}/api/v4`,
  headers: { Authorization: `Bearer ${token}` },
})

export const gitlab: Provider = {
  title: 'GitLab',
  baseUrl: 'https://gitlab.com',

  async whoIs(access) {
    const asked = { path: '/user', what: 'account', schema: user }
    const [owner, rights] = await Promise.all([
      ask(api(access), asked).catch(unlessDenied),
      readScopes(access),
    ])
    const told = {
      login: owner?.data.username ?? null,
      id: owner ? String(owner.data.id) : null,
    }
    if (!rights) return { ...told, rights, missing: owner ? [] : ['api'] }
    const needed = rights.includes('api') ? [] : ['read_api', 'read_repository']
    return { ...told, rights, missing: needed.filter((right) => !rights.includes(right)) }
  },

  listRepositories: (access) =>
    readAll(api(access), {
      path: '/projects?membership=true&order_by=id&per_page=100',
      what: 'list of projects',
      schema: project.transform((found) => repositoryOf(found, access)),
      key: ({ fullName }) => fullName,
    }),

  listBranches: (access, named) => listRefs(access, { ...named, kind: 'branches' }),
  listTags: (access, named) => listRefs(access, { ...named, kind: 'tags' }),

  async getDefaultBranch(access, { repository }) {
    const what = `project ${repository}`
    const { data } = await ask(api(access), { path: projects(repository), what, schema: project })
    return data.default_branch || null
  },

  cloneUrl: (baseUrl, { repository }) => `${baseUrl}/${repository}.git`,
  credential: (token) => ({ username: 'oauth2', password: token }),

  async createWebhook(access, { repository, url, secret }) {
    const { data } = await ask(api(access), {
      method: 'POST',
      path: `${projects(repository)}/hooks`,
      what: `webhook of ${repository}`,
      body: {
        ...{ url, token: secret, enable_ssl_verification: true },
        ...{ push_events: true, tag_push_events: true },
      },
      schema: hook,
    })
    return { id: String(data.id), url }
  },

  async findWebhook(access, { repository, url }) {
    const { items } = await readAll(api(access), {
      path: `${projects(repository)}/hooks?per_page=100`,
      what: `webhooks of ${repository}`,
      schema: hook,
      key: ({ id }) => String(id),
    })
    const found = items.find((item) => item.url === url)
    return found ? { id: String(found.id), url } : null
  },

  async deleteWebhook(access, { repository, id }) {
    const path = `${projects(repository)}/hooks/${encodeURIComponent(id)}`
    const what = `webhook of ${repository}`
    await ask(api(access), { method: 'DELETE', path, what, schema: z.unknown() }).catch(unlessGone)
  },

  async setCommitStatus(access, { repository, commit, context, state, description, url }) {
    await ask(api(access), {
      method: 'POST',
      path: `${projects(repository)}/statuses/${encodeURIComponent(commit)}`,
      what: `status of a commit of ${repository}`,
      body: {
        state: states[state],
        description: description.slice(0, 255),
        target_url: url,
        name: context,
      },
      schema: z.unknown(),
    })
  },
}

const states: Record<CommitStatus['state'], string> = {
  pending: 'pending',
  success: 'success',
  failure: 'failed',
}

const user = z.object({ username: z.string(), id: z.number() })

const project = z.object({
  path_with_namespace: z.string(),
  default_branch: z.string().nullish(),
  /** Left out for those who may see only little of a project. */
  visibility: z.string().optional(),
})

const repositoryOf = (found: z.output<typeof project>, { baseUrl }: Access): Repository => ({
  fullName: found.path_with_namespace,
  cloneUrl: gitlab.cloneUrl(baseUrl, { repository: found.path_with_namespace }),
  defaultBranch: found.default_branch || null,
  private: found.visibility !== 'public',
})

const hook = z.object({ id: z.number(), url: z.string() })

/** A project's path stands for its number when its slashes are written as %2F. */
const projects = (name: string) => `/projects/${encodeURIComponent(name)}`

const listRefs = (access: Access, options: { repository: string; kind: 'branches' | 'tags' }) =>
  readAll(api(access), {
    path: `${projects(options.repository)}/repository/${options.kind}?per_page=100`,
    what: `${options.kind} of ${options.repository}`,
    schema: z
      .object({ name: z.string(), commit: z.object({ id: z.string() }) })
      .transform(({ name, commit }) => ({ name, commit: commit.id })),
    key: ({ name }) => name,
  })

/** The scopes of the token; null where it may not see itself, or is of a kind that has none. */
async function readScopes(access: Access): Promise<string[] | null> {
  const path = '/personal_access_tokens/self'
  const schema = z.object({ scopes: z.array(z.string().max(40)).max(50) })
  const answer = await ask(api(access), { path, what: 'token', schema }).catch(unlessDenied)
  return answer?.data.scopes ?? null
}

function unlessDenied(error: unknown): null {
  if (isDenied(error)) return null
  throw error
}
