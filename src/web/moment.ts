import { line } from './fields.ts'
import { timeFields } from './labelled-fields.ts'
import { field } from './schema-fields.tsx'

const format = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(?<zone>Z|[+-]\d\d:\d\d)?$/i

/** Null when it isn't one. Without an offset it is of that zone; one that summer time skips is an hour later. */
export function readMoment(text: string, zone: string): Date | null {
  const { zone: offset } = format.exec(text)?.groups ?? { zone: null }
  if (offset === null) return null
  try {
    const instant = offset
      ? Temporal.Instant.from(text)
      : Temporal.PlainDateTime.from(text).toZonedDateTime(zone).toInstant()
    return new Date(instant.epochMilliseconds)
  } catch {
    return null // such as 31 February
  }
}

const rule = 'must be a time such as 2026-12-24T18:00:00Z.'

/** RFC 3339, or what a browser sends, without a zone: then the zone is in a field of its own. */
export const moment = (label: string, hint?: string) =>
  field(
    line('a time such as 2026-12-24T18:00:00Z', { max: 40 }).refine(
      (text) => readMoment(text, 'UTC') !== null,
      rule,
    ),
    { label, type: 'datetime-local' as const, isNarrow: true, ...(hint && { hint }) },
  )

export const momentZone = () =>
  field(timeFields.zone, {
    label: 'Time zone',
    placeholder: 'UTC',
    hint: 'Such as Europe/Berlin. Leave empty for UTC.',
    code: true,
    isNarrow: true,
  })
