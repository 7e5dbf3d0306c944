import { z } from 'zod'
import { block, whole } from '../web/fields.ts'
import { streamFormat } from '../web/query.ts'
import { logQuery, moment, refuseBothPlaces, seenVersion } from '../logs/forms.ts'
import { lineId } from './log-line.ts'

const maxTail = 10_000

const logFields = z.object({
  /** Defaults to 500 unless a time or a line says where to start. */
  tail: whole('how many lines', { min: 0, max: maxTail }).optional(),
  since: moment.optional(),
  /** Without following new lines. */
  until: moment.optional(),
  after: z
    .string()
    .regex(lineId, 'must be the id of a line, such as 1234 or 2026-11-20T03:00:00.123456789Z.')
    .optional(),
  stream: z.enum(['stdout', 'stderr'], 'must be stdout or stderr.').optional(),
  /** Case-insensitive. */
  search: block('a text', { max: 200 }).optional(),
  ...logQuery.pick({ level: true, before: true }).shape,
  /** The number of lines after or before one, in place of a tail. */
  limit: whole('how many lines', { min: 1, max: maxTail }).optional(),
  live: seenVersion,
  format: streamFormat.optional(),
  download: z.string().optional(),
})

export const containerLogQuery = logFields.superRefine(refuseBothPlaces)

export type ContainerLogQuery = z.output<typeof containerLogQuery>

/** The filters that the page itself supports. */
export const shownLogQuery = logFields.pick({
  ...{ search: true, level: true, stream: true, before: true },
})

export type ShownLogQuery = z.output<typeof shownLogQuery>
