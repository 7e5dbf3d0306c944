import { z } from 'zod'
import { block, whole } from '../web/fields.ts'
import { streamFormat } from '../web/query.ts'

const sequence = whole('the sequence of a line', { min: 0, max: Number.MAX_SAFE_INTEGER })

const wantsMoment = 'wants a time such as 2026-11-20T03:00:00Z.'

const moment = z
  .string(wantsMoment)
  .max(40, wantsMoment)
  .pipe(z.iso.datetime({ offset: true, error: wantsMoment }))
  .transform((text) => Date.parse(text))

/** Which lines of a log are asked for. */
export const logQuery = z.object({
  after: sequence.default(0),
  /** Of the page before; the same as `after`. */
  cursor: sequence.optional(),
  /** The last lines before that one, instead of those after one. */
  before: sequence.optional(),
  limit: whole('how many lines', { min: 1, max: 10_000 }).default(500),
  search: block('a text', { max: 500 }).optional(),
  stream: z.enum(['stdout', 'stderr', 'system'], 'wants stdout, stderr or system.').optional(),
  since: moment.optional(),
  until: moment.optional(),
  download: z.string().optional(),
})

export type LogQuery = z.output<typeof logQuery>

/** The same of the log of a deployment or job, which can be followed too. */
export const jobLogQuery = logQuery.extend({
  /** Of the stream's data; html when left out. */
  format: streamFormat.optional(),
})

export type JobLogQuery = z.output<typeof jobLogQuery>

/** From where on new lines are sent, and how. */
export const logStreamQuery = z.object({
  after: sequence.default(0),
  /** Of the stream's data; html when left out. */
  format: streamFormat.optional(),
})

export type LogStreamQuery = z.output<typeof logStreamQuery>
