import { z } from 'zod'
import { block, whole } from '../web/fields.ts'
import { streamFormat } from '../web/query.ts'
import { allLevels } from './level.ts'

const sequence = whole('the sequence of a line', { min: 0, max: Number.MAX_SAFE_INTEGER })

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const wantsMoment =
  'must be a time such as 2026-11-20T03:00:00Z, or how long ago: 30s, 10m, 2h, 1d.'

/** A time, or a duration before now. In milliseconds since 1970. */
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

const listOf = (value: unknown) => (value === undefined ? value : [value].flat())

/** As programs write it. With a level, lines without one don't match. */
const level = z
  .preprocess(
    listOf,
    z
      .array(z.enum(allLevels, 'must be error, warn, info or debug.'))
      .max(allLevels.length, 'can have each level once.'),
  )
  .optional()

export const logQuery = z.object({
  after: sequence.default(0),
  /** From the previous page; an alias of `after`. */
  cursor: sequence.optional(),
  /** Selects the last lines before that sequence number, instead of those after one. */
  before: sequence.optional(),
  limit: whole('how many lines', { min: 1, max: 10_000 }).default(500),
  /** Case-insensitive. */
  search: block('a string', { max: 500 }).optional(),
  stream: z.enum(['stdout', 'stderr', 'system'], 'must be stdout, stderr or system.').optional(),
  level,
  /** Both inclusive. */
  since: moment.optional(),
  until: moment.optional(),
  download: z.string().optional(),
})

/** Selects the lines in the page itself: the last ones, or the last ones before `before`. */
export const shownQuery = logQuery.pick({ before: true, search: true, level: true })

export type ShownQuery = z.output<typeof shownQuery>

/** Sent by a page with live parts: the version that it shows. */
export const seenVersion = z.string().max(40).optional()

/** Names of processes, or of one container of a process: `worker`, `worker 2`. */
const process = z
  .preprocess(
    listOf,
    z.array(block('the name of a process', { max: 255 })).max(100, 'can have at most 100 entries.'),
  )
  .optional()

type Places = Record<'after' | 'before' | 'cursor', number | string | undefined>

/** A page has the lines after one, or those before one; a file goes on to the end. */
export function refuseBothPlaces(
  { before, after, cursor = after, download }: Partial<Places> & { download?: string | undefined },
  { addIssue }: z.RefinementCtx,
) {
  if (before === undefined || !(cursor || download !== undefined)) return
  const message = `can’t be combined with ${cursor ? 'after' : 'download'}. Send one of them.`
  addIssue({ code: 'custom', path: ['before'], message })
}

export const outputQuery = logQuery.extend({ process }).superRefine(refuseBothPlaces)

export type OutputQuery = z.output<typeof outputQuery>

/** The log of a deployment or job can be followed too. */
export const jobLogQuery = logQuery
  .extend({
    /** The format of the stream's data; html by default. */
    format: streamFormat.optional(),
    live: seenVersion,
  })
  .superRefine(refuseBothPlaces)

export type JobLogQuery = z.output<typeof jobLogQuery>

/** Of the address of a service's last change, which leads to one log after another. */
export const changeLogQuery = jobLogQuery.extend({
  /** The id of the job of which `after` is a line. The log of another one is read from its start. */
  log: z.string().max(64).optional(),
})

export const outputStreamQuery = z.object({
  after: sequence.default(0),
  ...logQuery.pick({ level: true, stream: true, since: true }).shape,
  /** The format of the stream's data; html by default. */
  format: streamFormat.optional(),
  live: seenVersion,
  process,
})

export type OutputStreamQuery = z.output<typeof outputStreamQuery>
