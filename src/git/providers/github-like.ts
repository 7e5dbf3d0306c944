import { z } from 'zod'
import { pathOf } from './ask.ts'
import type { Dialect } from './rest.ts'

export const account = z.object({ login: z.string() })

/** GitHub's API as far as Gitea follows it. */
export const gitHubLike = {
  noun: 'repository',
  list: 'list of repositories',
  path: (repository) => `/repos/${pathOf(repository)}`,
  refs: '',
  repository: z
    .object({
      full_name: z.string(),
      default_branch: z.string().nullish(),
      private: z.boolean(),
      empty: z.boolean().optional(),
    })
    .transform((found) => ({
      fullName: found.full_name,
      defaultBranch: found.empty ? null : found.default_branch || null,
      private: found.private,
    })),
  /** Gitea calls it `id` for branches. */
  ref: z
    .object({
      name: z.string(),
      commit: z.object({ sha: z.string().optional(), id: z.string().optional() }),
    })
    .transform(({ name, commit: { sha, id } }, context) => {
      const commit = sha ?? id
      if (commit === undefined) context.addIssue('has no commit')
      return { name, commit: commit ?? z.NEVER }
    }),
  hook: z
    .object({ id: z.number(), config: z.object({ url: z.string().optional() }) })
    .transform(({ id, config }) => ({ id: String(id), url: config.url ?? '' })),
  status: { context: 'context', failure: 'failure' },
} satisfies Partial<Dialect>

/** Creates a webhook for pushes and other events; `kind` and `config` are what differs. */
export const newHook = (kind: object, config: object, others: string[]) => ({
  ...kind,
  active: true,
  events: ['push', ...others],
  config: { content_type: 'json', ...config },
})
