import { z } from 'zod'
import type { Config } from '../config.ts'
import { isCommit } from '../git/ref-names.ts'
import { branchName, repositoryUrl } from '../projects/forms.ts'
import { block, line, whole } from '../web/fields.ts'
import { streamFormat } from '../web/query.ts'

export const triggerForm = (config: Config) =>
  z.object({
    environmentId: line('the id of an environment', { max: 100 }).nullish(),
    repositoryUrl: repositoryUrl(config).nullish(),
    branch: branchName.nullish(),
    commit: line('a commit', { max: 64 })
      .refine(isCommit, 'wants the full hash of a commit, 40 or 64 hex digits.')
      .transform((hash) => hash.toLowerCase())
      .nullish(),
  })

const sequence = whole('the sequence of a line', { min: 0, max: Number.MAX_SAFE_INTEGER })

/** What of a log is wanted, and how. */
export const logQuery = z.object({
  after: sequence.default(0),
  /** Of the page before; the same as `after`. */
  cursor: sequence.optional(),
  limit: whole('how many lines', { min: 1, max: 10_000 }).default(500),
  search: block('a text', { max: 500 }).optional(),
  /** Of the stream's data; html when left out. */
  format: streamFormat.optional(),
  download: z.string().optional(),
})

export type LogQuery = z.output<typeof logQuery>
