import { z } from 'zod'
import { isCommit, refuseBranch } from '../git/ref-names.ts'
import type { Pull } from '../previews/pull.ts'
import { plain } from './push.ts'

/** `action` is undefined for what changes nothing in a preview. */
type Facts = Omit<Pull, 'action'> & { action: Pull['action'] | undefined; isOpen: boolean }

/** Reads the event of a provider: a sentence for what changes nothing in a preview. */
export type PullReader = { members: string[]; read: (payload: object) => Pull | string | null }

/** In characters. */
const maxTitle = 250
const maxText = 2000

/** GitLab counts in 32 bits, others not further. */
const number = z.int().min(1).max(2_147_483_647)

const title = z.string().transform((text) => plain(text, maxTitle) || 'Untitled')

const page = z.url({ protocol: /^https?$/ }).max(maxText)

const branch = z.string().refine((name) => refuseBranch(name) === null)

const commit = z
  .string()
  .refine(isCommit)
  .transform((hash) => hash.toLowerCase())

/** Null once it was deleted. */
const repositoryId = z.int().nullish()

const repository = z.object({ id: repositoryId }).nullish()

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
      title,
      html_url: page,
      state: z.string(),
      head: z.object({ ref: branch, sha: commit, repo: repository }),
    }),
    repository: z.object({ id: z.int() }),
    sender: z.object({ login: z.string().nullish() }).nullish(),
  })
  .transform(({ action, pull_request: pull, repository, sender }): Facts => ({
    action: actions.get(action),
    number: pull.number,
    title: pull.title,
    url: pull.html_url,
    branch: pull.head.ref,
    ref: `refs/pull/${pull.number}/head`,
    commit: pull.head.sha,
    isFork: pull.head.repo?.id !== repository.id || isPushedForReview(pull.head.ref),
    isOpen: pull.state === 'open',
    sender: sender?.login ?? null,
  }))

/** Gitea's AGit flow: whoever reads the repository opens one by a push to `refs/for/main`, without a branch or a fork. */
const isPushedForReview = (ref: string) => ref.startsWith('refs/')

export const mergeRequest: PullReader = {
  members: ['object_attributes', 'project', 'user'],
  read: (payload) => readPull(ofGitlab, payload),
}

const ofGitlab = z
  .object({
    user: z.object({ username: z.string().nullish() }).nullish(),
    project: z.object({ id: z.int() }),
    object_attributes: z.object({
      iid: number,
      title,
      url: page,
      action: z.string().max(100).nullish(),
      state: z.string(),
      source_branch: branch,
      source_project_id: repositoryId,
      last_commit: z.object({ id: commit }),
      /** The commit before a push; no other update has one. */
      oldrev: z.string().nullish(),
    }),
  })
  .transform(({ user, project, object_attributes: merge }): Facts => ({
    action: merge.action === 'update' && !merge.oldrev ? undefined : actions.get(merge.action!),
    number: merge.iid,
    title: merge.title,
    url: merge.url,
    branch: merge.source_branch,
    ref: `refs/merge-requests/${merge.iid}/head`,
    commit: merge.last_commit.id,
    isFork: merge.source_project_id !== project.id,
    isOpen: merge.state === 'opened',
    sender: user?.username ?? null,
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
  const { action, isOpen, sender, ...pull } = facts
  const what = `Pull request #${pull.number}`
  if (!action) return `${what} was neither opened, pushed to nor closed.`
  if (action !== 'closed' && !isOpen) return `${what} is closed.`
  return { ...pull, action, sender: sender && plain(sender, 100) }
}
