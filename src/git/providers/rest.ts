import { z } from 'zod'
import { ask } from './ask.ts'
import { readAll } from './pages.ts'
import type {
  Api,
  Access,
  Check,
  Named,
  NewHook,
  Provider,
  Ref,
  Repository,
  TokenOwner,
  Webhook,
} from './provider.ts'
import { unlessGone } from './provider-error.ts'

export type Dialect = Pick<Provider, 'title' | 'baseUrl'> & {
  api: (baseUrl: string, token: string) => Pick<Api, 'base' | 'headers'>
  whoIs: (api: Api) => Promise<TokenOwner>
  username: string
  firstPage: string
  repositories: string
  /** The words for a repository and for that list in messages. */
  noun: string
  list: string
  path: (repository: string) => string
  /** Prefixes `/branches` and `/tags`. */
  refs: string
  repository: z.ZodType<Omit<Repository, 'cloneUrl'>>
  ref: z.ZodType<Ref>
  hook: z.ZodType<Webhook>
  newHook: (hook: NewHook) => object
  checks: (asked: { api: Api; path: string; what: string }) => Promise<Check[]>
  /** The provider's names for the context of a commit status, and for a failed one. */
  status: { context: string; failure: string }
}

/** In characters: GitHub's limit. */
export const longestStatus = 140

/** What a change is answered with, if with anything: no page of something before the provider. */
const done = z.object({}).nullable()

export function restProvider({ title, baseUrl, ...of }: Dialect): Provider {
  const open = ({ baseUrl, token, ...rest }: Access): Api => ({
    ...rest,
    title,
    host: new URL(baseUrl).host,
    ...of.api(baseUrl, token),
  })
  const cloneUrl = (baseUrl: string, { repository }: Named) => `${baseUrl}/${repository}.git`
  const listRefs = (access: Access, { repository }: Named, kind: 'branches' | 'tags') =>
    readAll(open(access), {
      path: `${of.path(repository)}${of.refs}/${kind}?${of.firstPage}`,
      what: `${kind} of ${repository}`,
      schema: of.ref,
      key: ({ name }) => name,
    })

  return {
    title,
    baseUrl,
    cloneUrl,
    open,
    credential: (token) => ({ username: of.username, password: token }),
    whoIs: (access) => of.whoIs(open(access)),

    listRepositories: (access) =>
      readAll(open(access), {
        path: of.repositories,
        what: of.list,
        schema: of.repository.transform((found) => ({
          ...found,
          cloneUrl: cloneUrl(access.baseUrl, { repository: found.fullName }),
        })),
        key: ({ fullName }) => fullName,
      }),
    listBranches: (access, named) => listRefs(access, named, 'branches'),
    listTags: (access, named) => listRefs(access, named, 'tags'),

    async getDefaultBranch(access, { repository }) {
      const what = `${of.noun} ${repository}`
      const asked = { path: of.path(repository), what, schema: of.repository }
      return (await ask(open(access), asked)).data.defaultBranch
    },

    async createWebhook(access, { repository, ...hook }) {
      const { data } = await ask(open(access), {
        method: 'POST',
        path: `${of.path(repository)}/hooks`,
        what: `webhook of ${repository}`,
        body: of.newHook(hook),
        schema: of.hook,
      })
      return { id: data.id, url: hook.url }
    },

    async findWebhook(access, { repository, url }) {
      const { items } = await readAll(open(access), {
        path: `${of.path(repository)}/hooks?${of.firstPage}`,
        what: `webhooks of ${repository}`,
        schema: of.hook,
        key: ({ id }) => id,
      })
      return items.find((hook) => hook.url === url) ?? null
    },

    async deleteWebhook(access, { repository, id }) {
      await ask(open(access), {
        method: 'DELETE',
        path: `${of.path(repository)}/hooks/${encodeURIComponent(id)}`,
        what: `webhook of ${repository}`,
        schema: done,
      }).catch(unlessGone)
    },

    listChecks: (access, { repository, commit }) =>
      of.checks({
        api: open(access),
        path: `${of.path(repository)}${of.refs}/commits/${encodeURIComponent(commit)}`,
        what: `checks of ${repository}`,
      }),

    async setCommitStatus(access, { repository, commit, context, state, description, url }) {
      await ask(open(access), {
        method: 'POST',
        path: `${of.path(repository)}/statuses/${encodeURIComponent(commit)}`,
        what: `status of a commit of ${repository}`,
        body: {
          state: state === 'failure' ? of.status.failure : state,
          [of.status.context]: context,
          description: description.slice(0, longestStatus),
          target_url: url,
        },
        schema: done,
      })
    },
  }
}
