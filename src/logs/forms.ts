import { z } from 'zod'
import { block, whole } from '../web/fields.ts'
import { streamFormat } from '../web/query.ts'

const sequence = whole('the sequence of a line', { min: 0, max: Number.MAX_SAFE_INTEGER })

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const wantsMoment =
  'must be a time such as 2026-11-20T03:00:00Z, or how long ago: 30s, 10m, 2h, 1d.'

/** A time, or how long ago, in milliseconds since 1970. */
export const moment = z
  .string(wantsMoment)
  .max(40, wantsMoment)
  .transform((text, context) => {
    const ago = /^(\d{1,5})([smhd])$/.exec(text)
    if (ago) return Date.now() - Number(ago[1]) * units[ago[2] as keyof typeof units]
    if (z.iso.datetime({ offset: true }).safeParse(text).success) return Date.parse(text)
    context.addIssue({ code: 'custom', message: wantsMoment })
    return z.NEVER
  })

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

const process = z
  .preprocess(
    (value) => (value === undefined ? value : [value].flat()),
    z.array(block('the name of a process', { max: 255 })).max(100, 'has more than 100 entries.'),
  )
  .optional()

/** The same of what containers write, of which some processes can be chosen. */
export const outputQuery = logQuery.extend({ process })

export type OutputQuery = z.output<typeof outputQuery>

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

export const outputStreamQuery = logStreamQuery.extend({ process })

export type OutputStreamQuery = z.output<typeof outputStreamQuery>
