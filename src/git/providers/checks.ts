import { z } from 'zod'
import { ask } from './ask.ts'
import { readAll } from './pages.ts'
import type { Api, Check, CheckState } from './provider.ts'

type CheckQuery = { api: Api; path: string; what: string }

/** Pages of 100 (or 50) that are read; a commit with more checks counts as unfinished. */
const maxPages = 10

/** One more that never ends, for those that weren't read. */
const unread: Check = { name: 'more checks than Davit reads', state: 'pending' }

type List = CheckQuery & {
  perPage: string
  schema: z.ZodType<Check[]>
}

async function readPages({ api, path, what, perPage, schema }: List): Promise<Check[]> {
  const found: Check[] = []
  for (let page = 1; page <= maxPages; page++) {
    const { data } = await ask(api, { path: `${path}?${perPage}&page=${page}`, what, schema })
    if (data.length === 0) return found
    found.push(...data)
  }
  return [...found, unread]
}

const stateOf = (states: Record<string, CheckState>, text: string | null | undefined) =>
  (text && Object.hasOwn(states, text) && states[text]) || 'pending'

const statusStates: Record<string, CheckState> = {
  ...{ success: 'success', warning: 'success', skipped: 'success' },
  ...{ failure: 'failure', error: 'failure' },
}

/** The newest status of each context, as GitHub and Gitea give them; Gitea calls the state `status`. */
const statuses = z
  .object({
    statuses: z
      .array(
        z.object({
          context: z.string(),
          state: z.string().nullish(),
          status: z.string().nullish(),
        }),
      )
      .nullish(),
  })
  .transform(({ statuses }) =>
    (statuses ?? []).map(({ context: name, state, status }) => ({
      name,
      state: stateOf(statusStates, state ?? status),
    })),
  )

export const commitStatuses = (query: CheckQuery, perPage: string) =>
  readPages({ ...query, path: `${query.path}/status`, perPage, schema: statuses })

const conclusions: Record<string, CheckState> = {
  ...{ success: 'success', neutral: 'success', skipped: 'success' },
  ...{ failure: 'failure', cancelled: 'failure', timed_out: 'failure', stale: 'failure' },
  ...{ action_required: 'failure', startup_failure: 'failure' },
}

const runs = z
  .object({
    check_runs: z.array(
      z.object({ name: z.string(), status: z.string(), conclusion: z.string().nullish() }),
    ),
  })
  .transform(({ check_runs }) =>
    check_runs.map(({ name, status, conclusion }) => ({
      name,
      state: status === 'completed' ? stateOf(conclusions, conclusion) : ('pending' as const),
    })),
  )

/** GitHub's own; those of other systems are statuses. */
export const checkRuns = (query: CheckQuery) =>
  readPages({ ...query, path: `${query.path}/check-runs`, perPage: 'per_page=100', schema: runs })

const jobStates: Record<string, CheckState> = {
  ...{ success: 'success', skipped: 'success', failed: 'failure', canceled: 'failure' },
}

/** What may fail, and what a person starts, doesn't count. */
const job = z
  .object({
    id: z.number(),
    name: z.string(),
    status: z.string(),
    allow_failure: z.boolean().nullish(),
  })
  .transform(({ id, name, status, allow_failure: isOptional }) => ({
    id: String(id),
    name,
    state:
      isOptional && ['failed', 'canceled', 'manual'].includes(status)
        ? ('success' as const)
        : stateOf(jobStates, status),
  }))

/** GitLab's jobs, and what other systems report. */
export async function pipelineJobs({ api, path, what }: CheckQuery): Promise<Check[]> {
  const list = { path: `${path}/statuses?per_page=100`, what, schema: job }
  const { items, truncated } = await readAll(api, { ...list, key: ({ id }) => id })
  const found = items.map(({ name, state }) => ({ name, state }))
  return truncated ? [...found, unread] : found
}
