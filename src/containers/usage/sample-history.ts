import type { LogDb } from '../../db/index.ts'
import { ranges } from '../../web/plot.ts'
import type { Bounds, Point, Range } from '../../web/plot.ts'
import { getLastSampleTime, listSamples, spans } from './sample-store.ts'
import type { Sample } from './sample-store.ts'

const spanOf: Record<Range, number> = { hour: spans.fine, day: spans.minute, week: spans.coarse }

export type History = Bounds & { samples: Sample[] }

/** The values that are drawn. */
export type Figure = Exclude<keyof Sample, 'time'>

export const pointsOf = ({ samples }: Pick<History, 'samples'>, of: Figure): Point[] =>
  samples.map((sample) => ({ time: sample.time, value: sample[of] }))

export function readHistory(
  logDb: LogDb,
  { containerId, range, now = Date.now() }: { containerId: string; range: Range; now?: number },
): History {
  const bounds = boundsOf(range, now)
  const containerIds = [containerId]
  const samples = listSamples(logDb, { ...bounds, containerIds, after: bounds.from })
  return { ...bounds, samples: samples.map(({ containerId: _, span: __, ...sample }) => sample) }
}

/** The range ends now. */
export function boundsOf(range: Range, now = Date.now()): Bounds {
  const until = Math.round(now / 1000 / spans.fine) * spans.fine
  return { range, span: spanOf[range], from: until - ranges[range], until }
}

/** Reads the last hour again only when there is a new sample. */
export function historyNews(logDb: LogDb, containerId: string) {
  let seen = getLastSampleTime(logDb, containerId)
  return () => {
    const last = getLastSampleTime(logDb, containerId)
    if (last === seen) return null
    seen = last
    return readHistory(logDb, { containerId, range: 'hour' })
  }
}
