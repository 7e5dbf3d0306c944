import { z } from 'zod'
import type { LogDb } from '../../db/index.ts'
import { getLastSampleTime, listSamples, spans } from './sample-store.ts'
import type { Sample } from './sample-store.ts'

/** How far back a chart goes, in seconds, and what one of its samples stands for. */
export const ranges = {
  hour: { seconds: 3600, span: spans.fine },
  day: { seconds: 86_400, span: spans.minute },
  week: { seconds: 7 * 86_400, span: spans.coarse },
}

export type Range = keyof typeof ranges

export const usageQuery = z.object({
  range: z.enum(Object.keys(ranges) as Range[], 'must be hour, day or week.').default('hour'),
})

/** What a container used, from after `from` to `until`, in seconds since 1970. */
export type History = {
  range: Range
  span: number
  from: number
  until: number
  samples: Sample[]
}

export function readHistory(
  logDb: LogDb,
  { containerId, range, now = Date.now() }: { containerId: string; range: Range; now?: number },
): History {
  const bounds = boundsOf(range, now)
  const samples = listSamples(logDb, { ...bounds, containerId, after: bounds.from })
  return { ...bounds, samples }
}

/** Which samples belong to a range that ends now. */
export function boundsOf(range: Range, now = Date.now()) {
  const { seconds, span } = ranges[range]
  const until = Math.round(now / 1000 / spans.fine) * spans.fine
  return { range, span, from: until - seconds, until }
}

/** The last hour, whenever there is more of it. */
export class HistoryNews {
  readonly #logDb: LogDb
  readonly #containerId: string
  #seen: number | null

  constructor(logDb: LogDb, containerId: string) {
    this.#logDb = logDb
    this.#containerId = containerId
    this.#seen = getLastSampleTime(logDb, containerId)
  }

  /** Null when nothing was added since. */
  read() {
    const last = getLastSampleTime(this.#logDb, this.#containerId)
    if (last === this.#seen) return null
    this.#seen = last
    return readHistory(this.#logDb, { containerId: this.#containerId, range: 'hour' })
  }
}
