import type { LogDb } from '../../db/index.ts'
import { ranges } from '../../web/plot.ts'
import type { Bounds, Point, Range } from '../../web/plot.ts'
import { getLastSampleTime, listSamples, spans } from './sample-store.ts'
import type { Sample } from './sample-store.ts'

/** Seconds that one sample of a range stands for. */
const spanOf: Record<Range, number> = { hour: spans.fine, day: spans.minute, week: spans.coarse }

/** What a container used. */
export type History = Bounds & { samples: Sample[] }

/** What of it is drawn. */
export type Figure = Exclude<keyof Sample, 'time'>

/** One value over time. */
export const pointsOf = ({ samples }: Pick<History, 'samples'>, of: Figure): Point[] =>
  samples.map((sample) => ({ time: sample.time, value: sample[of] }))

export function readHistory(
  logDb: LogDb,
  { containerId, range, now = Date.now() }: { containerId: string; range: Range; now?: number },
): History {
  const bounds = boundsOf(range, now)
  const samples = listSamples(logDb, { ...bounds, containerId, after: bounds.from })
  return { ...bounds, samples }
}

/** Which samples belong to a range that ends now. */
export function boundsOf(range: Range, now = Date.now()): Bounds {
  const until = Math.round(now / 1000 / spans.fine) * spans.fine
  return { range, span: spanOf[range], from: until - ranges[range], until }
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
