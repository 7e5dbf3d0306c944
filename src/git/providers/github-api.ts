import { z } from 'zod'
import { ask, pathOf } from './ask.ts'
import type { Api } from './ask.ts'
import { readAll } from './pages.ts'
import type { Access, Provider } from './provider.ts'
import { unlessGone } from './provider-error.ts'

/** Below it is all that is asked about one repository. */
export const repos = (name: string) => `/repos/${pathOf(name)}`

/** How an account is answered. */
export const account = z.object({ login: z.string(), id: z.number() })

export const repository = z.object({
  full_name: z.string(),
  default_branch: z.string().nullish(),
  private: z.boolean(),
  empty: z.boolean().optional(),
})

const hook = z.object({ id: z.number(), config: z.object({ url: z.string().optional() }) })

/** Gitea has `id` in its branches. */
const ref = z
  .object({
    name: z.string(),
    commit: z.object({ sha: z.string().optional(), id: z.string().optional() }),
  })
  .transform(({ name, commit: { sha, id } }, context) => {
    const commit = sha ?? id
    if (commit === undefined) context.addIssue('has no commit')
    return { name, commit: commit ?? z.NEVER }
  })

type Differences = {
  api: (access: Access) => Api
  /** The query of the first page of a list. */
  firstPage: string
  /** What makes a webhook, besides its events and its `config`. */
  hook: object
  hookConfig: object
  /** Characters of a commit status that it keeps. */
  longestStatus: number
}

/** What is asked about repositories as GitHub's API has it, which Gitea took over. */
export function gitHubApi({
  api,
  firstPage,
  ...differs
}: Differences): Omit<Provider, 'title' | 'baseUrl' | 'whoIs' | 'credential'> {
  const listRefs = (access: Access, name: string, kind: 'branches' | 'tags') =>
    readAll(api(access), {
      path: `${repos(name)}/${kind}?${firstPage}`,
      what: `${kind} of ${name}`,
      schema: ref,
      key: ({ name }) => name,
    })
  const cloneUrl = (baseUrl: string, named: { repository: string }) =>
    `${baseUrl}/${named.repository}.git`

  return {
    listRepositories: (access) =>
      readAll(api(access), {
        path: `/user/repos?${firstPage}`,
        what: 'list of repositories',
        schema: repository.transform((found) => ({
          fullName: found.full_name,
          cloneUrl: cloneUrl(access.baseUrl, { repository: found.full_name }),
          defaultBranch: defaultBranchOf(found),
          private: found.private,
        })),
        key: ({ fullName }) => fullName,
      }),

    listBranches: (access, named) => listRefs(access, named.repository, 'branches'),
    listTags: (access, named) => listRefs(access, named.repository, 'tags'),

    async getDefaultBranch(access, { repository: name }) {
      const what = `repository ${name}`
      const { data } = await ask(api(access), { path: repos(name), what, schema: repository })
      return defaultBranchOf(data)
    },

    cloneUrl,

    async createWebhook(access, { repository, url, secret }) {
      const config = { url, secret, content_type: 'json', ...differs.hookConfig }
      const { data } = await ask(api(access), {
        method: 'POST',
        path: `${repos(repository)}/hooks`,
        what: `webhook of ${repository}`,
        body: { ...differs.hook, active: true, events: ['push'], config },
        schema: hook,
      })
      return { id: String(data.id), url }
    },

    async findWebhook(access, { repository, url }) {
      const { items } = await readAll(api(access), {
        path: `${repos(repository)}/hooks?${firstPage}`,
        what: `webhooks of ${repository}`,
        schema: hook,
        key: ({ id }) => String(id),
      })
      const found = items.find(({ config }) => config.url === url)
      return found ? { id: String(found.id), url } : null
    },

    async deleteWebhook(access, { repository, id }) {
      const path = `${repos(repository)}/hooks/${encodeURIComponent(id)}`
      const what = `webhook of ${repository}`
      await ask(api(access), { method: 'DELETE', path, what, schema: z.unknown() }).catch(
        unlessGone,
      )
    },

    async setCommitStatus(access, { repository, commit, context, state, description, url }) {
      await ask(api(access), {
        method: 'POST',
        path: `${repos(repository)}/statuses/${encodeURIComponent(commit)}`,
        what: `status of a commit of ${repository}`,
        body: {
          ...{ state, target_url: url, context },
          description: description.slice(0, differs.longestStatus),
        },
        schema: z.unknown(),
      })
    },
  }
}

const defaultBranchOf = ({ empty, default_branch: name }: z.output<typeof repository>) =>
  empty ? null : name || null
