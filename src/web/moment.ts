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
