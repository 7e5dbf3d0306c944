const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** How long ago, with the exact time as its title; app.js keeps the text fresh. */
export const Ago = ({ at }: { at: Date | null }) =>
  at ? (
    <time datetime={at.toISOString()} title={absolute(at)} data-ago>
      {ago(at, new Date())}
    </time>
  ) : (
    <span class="muted">never</span>
  )

/** app.js has the same words for refreshing them. */
export function ago(at: Date, now: Date) {
  const passed = now.getTime() - at.getTime()
  if (passed < minute) return 'just now'
  if (passed < hour) return `${Math.floor(passed / minute)} min ago`
  if (passed < day) return `${Math.floor(passed / hour)} h ago`
  if (passed < 30 * day) return `${Math.floor(passed / day)} d ago`
  return at.toISOString().slice(0, 10)
}

export function duration(ms: number) {
  if (ms < 10 * second) return `${(Math.max(0, ms) / second).toFixed(1)} s`
  if (ms < minute) return `${Math.round(ms / second)} s`
  if (ms < hour) return `${Math.floor(ms / minute)} min ${Math.floor((ms % minute) / second)} s`
  return `${Math.floor(ms / hour)} h ${Math.floor((ms % hour) / minute)} min`
}

const absolute = (at: Date) => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
