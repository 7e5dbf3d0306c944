import { z } from 'zod'
import { isCommit, refuseBranch } from '../git/ref-names.ts'
import type { Pull } from '../previews/pull.ts'
import { plain } from './push.ts'

/** `action` is undefined for what changes nothing in a preview; null is what is missing or can’t be used. */
type Facts = Pick<Pull, 'number' | 'ref' | 'isFork' | 'sender' | 'updatedAt'> & {
  action: Pull['action'] | undefined
  isOpen: boolean
  title: string | null
  url: string | null
  branch: string | null
  commit: string | null
}

/** Reads the event of a provider: a sentence for what changes nothing in a preview. */
export type PullReader = { members: string[]; read: (payload: object) => Pull | string | null }

/** In characters. */
const maxTitle = 250
const maxText = 2000

/** GitLab counts in 32 bits, others not further. */
const number = z.int().min(1).max(2_147_483_647)

const title = z.string().transform((text) => plain(text, maxTitle) || 'Untitled')

const page = z.url({ protocol: /^https?$/ }).max(maxText)

const commit = z
  .string()
  .refine(isCommit)
  .transform((hash) => hash.toLowerCase())

/** GitLab also writes `2013-12-03 17:23:34 UTC`. */
const moment = z
  .string()
  .max(100)
  .transform((text) => Date.parse(text))
  .refine(Number.isFinite)

const id = z.object({ id: optional(z.int()) })

/** An event must be answered even if a part of it can’t be used: GitLab disables a webhook after four errors. */
function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema
    .nullish()
    .transform((value) => value ?? null)
    .catch(null)
}

/** GitHub and Gitea, whose events also say that a label was added, or a review was asked for. */
export const pullRequest: PullReader = {
  members: ['action', 'number', 'pull_request', 'repository', 'sender'],
  read: (payload) => readPull(ofGithub, payload),
}

const ofGithub = z
  .object({
    action: z.string().max(100),
    pull_request: z.object({
      number,
      title: optional(title),
      html_url: optional(page),
      state: optional(z.string()),
      updated_at: optional(moment),
      head: optional(
        z.object({ ref: optional(z.string()), sha: optional(commit), repo: optional(id) }),
      ),
    }),
    repository: optional(id),
    sender: optional(z.object({ login: optional(z.string()) })),
  })
  .transform(({ action, pull_request: { head, ...pull }, repository, sender }): Facts => ({
    action: actions.get(action),
    number: pull.number,
    title: pull.title,
    url: pull.html_url,
    branch: head?.ref ?? null,
    ref: `refs/pull/${pull.number}/head`,
    commit: head?.sha ?? null,
    isFork: isOther(head?.repo?.id, repository?.id) || isPushedForReview(head?.ref ?? ''),
    isOpen: pull.state === 'open',
    sender: sender?.login ?? null,
    updatedAt: pull.updated_at,
  }))

/** The repository of its head, which may have been deleted since. */
const isOther = (of: number | null | undefined, own: number | null | undefined) =>
  typeof of !== 'number' || of !== own

/** Gitea's AGit flow: whoever reads the repository opens one by a push to `refs/for/main`, without a branch or a fork. */
const isPushedForReview = (ref: string) => ref.startsWith('refs/')

export const mergeRequest: PullReader = {
  members: ['object_attributes', 'project', 'user'],
  read: (payload) => readPull(ofGitlab, payload),
}

const ofGitlab = z
  .object({
    user: optional(z.object({ username: optional(z.string()) })),
    project: optional(id),
    object_attributes: z.object({
      iid: number,
      title: optional(title),
      url: optional(page),
      action: optional(z.string().max(100)),
      state: optional(z.string()),
      updated_at: optional(moment),
      source_branch: optional(z.string()),
      source_project_id: optional(z.int()),
      last_commit: optional(z.object({ id: optional(commit) })),
      /** The commit before a push; no other update has one. */
      oldrev: optional(z.string()),
    }),
  })
  .transform(({ user, project, object_attributes: merge }): Facts => ({
    action: merge.action === 'update' && !merge.oldrev ? undefined : actions.get(merge.action!),
    number: merge.iid,
    title: merge.title,
    url: merge.url,
    branch: merge.source_branch,
    ref: `refs/merge-requests/${merge.iid}/head`,
    commit: merge.last_commit?.id ?? null,
    isFork: isOther(merge.source_project_id, project?.id),
    isOpen: merge.state === 'opened',
    sender: user?.username ?? null,
    updatedAt: merge.updated_at,
  }))

/** By the word of a provider; a merge closes it. */
const actions = new Map<string, Pull['action']>([
  ['opened', 'opened'],
  ['open', 'opened'],
  ['reopened', 'reopened'],
  ['reopen', 'reopened'],
  ['synchronize', 'pushed'],
  ['synchronized', 'pushed'],
  ['update', 'pushed'],
  ['closed', 'closed'],
  ['close', 'closed'],
  ['merge', 'closed'],
])

function readPull(schema: z.ZodType<Facts>, payload: object): Pull | string | null {
  const facts = schema.safeParse(payload).data
  if (!facts) return null
  const { action, isOpen, ...pull } = facts
  const { number, title, url, commit, isFork } = pull
  const what = `Pull request #${number}`
  if (!action) return `${what} was neither opened, pushed to nor closed.`
  if (action !== 'closed' && !isOpen) return `${what} is closed.`
  const branch = isFork ? null : pull.branch
  const sender = pull.sender && plain(pull.sender, 100)
  const read = { ...pull, action, branch, sender }
  if (action === 'closed')
    return { ...read, title: title ?? 'Untitled', url: url ?? '', commit: commit ?? '' }
  const isUsable = isFork || (branch !== null && refuseBranch(branch) === null)
  return title && url && commit && isUsable ? { ...read, title, url, commit } : null
}
