import type { LogEntry } from '../docker/index.ts'

/**
 * A position in a container's output: the `ordinal`th entry with that timestamp and stream. Unlike an offset,
 * it stays valid when the engine rotates its files.
 */
export type Position = Pick<LogEntry, 'timestamp' | 'stream'> & { ordinal: number }

export type Placed = LogEntry & { position: Position }

/** Gives each entry its position; the first one must be the first with its timestamp. */
export class Placer {
  readonly #last = { stdout: { timestamp: '', ordinal: 0 }, stderr: { timestamp: '', ordinal: 0 } }

  place(entry: LogEntry): Placed {
    const { timestamp, stream } = entry
    const last = this.#last[stream]
    const ordinal = last.timestamp === timestamp ? last.ordinal + 1 : 1
    this.#last[stream] = { timestamp, ordinal }
    return { ...entry, position: { timestamp, stream, ordinal } }
  }
}

export const isAt = (a: Position, b: Position) =>
  a.timestamp === b.timestamp && a.stream === b.stream && a.ordinal === b.ordinal

/** Milliseconds since 1970. */
export const timeOf = ({ timestamp }: Pick<Position, 'timestamp'>) => Date.parse(timestamp)

/** In milliseconds: entries can be this much later than their batch's start; with more, the clocks differ. */
const longestBatch = 2000

/** Up to when entries belong to a batch that was started to read up to a time. */
export const limitOfBatch = (until: number, entries: Placed[]) =>
  entries.some((entry) => timeOf(entry) > until + longestBatch) ? Infinity : until

/** The entries up to a time in milliseconds since 1970. */
export function upTo(limit: number, entries: Placed[]) {
  if (limit === Infinity) return entries
  const end = entries.findIndex((entry) => timeOf(entry) > limit)
  return end === -1 ? entries : entries.slice(0, end)
}

/** An earlier time in the format of the engine's API. */
export function secondsBefore({ timestamp }: Pick<Position, 'timestamp'>, milliseconds: number) {
  const nanoseconds = /\.(\d{9})/.exec(timestamp)?.[1] ?? '000000000'
  const whole = BigInt(Math.floor(timeOf({ timestamp }) / 1000)) * 1_000_000_000n
  const at = whole + BigInt(nanoseconds) - BigInt(Math.round(milliseconds * 1e6))
  return `${at / 1_000_000_000n}.${String(at % 1_000_000_000n).padStart(9, '0')}`
}

/** A later time as a timestamp that can be compared as text; exact to the millisecond. */
export const timestampAfter = (position: Pick<Position, 'timestamp'>, milliseconds: number) =>
  new Date(timeOf(position) + milliseconds).toISOString().replace('Z', '999999Z')
