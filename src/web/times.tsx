const second = 1000
const minute = 60 * second
const hour = 60 * minute
const oneDay = 24 * hour

/** How long ago, with the exact time as its title; app.js updates it, and uses the browser's time zone. */
export const Ago = ({ at }: { at: Date | null }) =>
  at ? (
    <time datetime={at.toISOString()} title={absolute(at)} data-ago>
      {ago(at, new Date())}
    </time>
  ) : (
    <span class="muted">never</span>
  )

/** A day, with the exact time as its title; app.js shows both in the browser's time zone. */
export const Day = ({ at }: { at: Date }) => (
  <time datetime={at.toISOString()} title={absolute(at)} data-day>
    {day(at)}
  </time>
)

/** A time, to the minute; app.js shows it in the browser's time zone. */
export const At = ({ at }: { at: Date }) => (
  <time datetime={at.toISOString()} title={absolute(at)} data-at>
    {(ofMinutes ??= formatOf({ timeStyle: 'short' })).format(at)} UTC
  </time>
)

/** How long until then, with the exact time as its title. */
export const In = ({ at }: { at: Date }) => (
  <time datetime={at.toISOString()} title={absolute(at)}>
    {until(at, new Date())}
  </time>
)

export function until(at: Date, now: Date) {
  const left = at.getTime() - now.getTime()
  if (left < minute) return 'within a minute'
  if (left < hour) return `in ${Math.floor(left / minute)} min`
  if (left < 2 * oneDay) return `in ${Math.floor(left / hour)} h`
  return `in ${Math.floor(left / oneDay)} days`
}

/** app.js has the same texts to update them. */
export function ago(at: Date, now: Date) {
  const passed = now.getTime() - at.getTime()
  if (passed < minute) return 'just now'
  if (passed < hour) return `${Math.floor(passed / minute)} min ago`
  if (passed < oneDay) return `${Math.floor(passed / hour)} h ago`
  if (passed < 30 * oneDay) return `${Math.floor(passed / oneDay)} d ago`
  return day(at)
}

/** In UTC, which the text names: the browser's time zone is unknown here. */
const formatOf = (time?: { timeStyle: 'long' | 'short' }) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', ...time, timeZone: 'UTC' })

// created when first used, because they take 5 MiB that a server with no visitors doesn't need
let ofDays: Intl.DateTimeFormat | undefined
let ofMinutes: Intl.DateTimeFormat | undefined
let ofTimes: Intl.DateTimeFormat | undefined

const day = (at: Date) => (ofDays ??= formatOf()).format(at)

const absolute = (at: Date) => (ofTimes ??= formatOf({ timeStyle: 'long' })).format(at)

/** The times at which something is planned, folded away. */
export const NextTimes = ({ times }: { times: Date[] }) => (
  <details>
    <summary>Next times</summary>
    <ul>
      {times.map((at) => (
        <li>
          <At at={at} />
        </li>
      ))}
    </ul>
  </details>
)
