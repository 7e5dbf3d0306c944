import type { LogDb } from '../db/index.ts'
import { resync } from '../live/hub.ts'
import { LogBatch, partsOf } from './log-batch.ts'
import { channelOf } from './logs.ts'
import type { Line } from './log-line.tsx'
import type { Logs } from './logs.ts'
import type { Masks } from './masks.ts'
import { eachLines, passing } from './read-log.ts'
import type { LogFilter } from './read-log.ts'
import { shownNow } from './shown-lines.ts'
import { getExtent } from './store.ts'
import type { LogKey } from './store.ts'

/** Statuses of a log's subject, sent between lines. `now` is the stored one; `isEnd` is true for the last. */
export type Statuses<Status> = { now: () => Status; isEnd: (status: Status) => boolean }

/**
 * Yields the lines after `after` that pass the filter, stored ones first, then live ones, without gaps or
 * repeats, and every change of status between. Ends after the last status. A slow reader isn't disconnected,
 * but continues from the database. The filter by time only applies to stored lines.
 */
export async function* followLog<Status extends string = never>(
  deps: { logDb: LogDb; logs: Logs; masks: Masks },
  log: LogKey,
  {
    after,
    signal,
    statuses,
    since,
    ...filter
  }: Omit<LogFilter, 'until'> & {
    after: number
    signal: AbortSignal
    statuses?: Statuses<Status> | undefined
  },
): AsyncGenerator<LogBatch | { status: Status }> {
  const passes = passing(filter)
  let status: Status | null = null
  for await (const event of deps.logs.follow(channelOf(log), signal)) {
    if (event === resync) {
      // Read after subscribing and before the lines: when the status is the last one, all lines are stored.
      const now = statuses?.now()
      const end = since === undefined ? 0 : getExtent(deps.logDb, log).last
      const least = since ?? 0
      const stored = {
        ...{ ...filter, since, after },
        passes: (line: Line) => passes(line) && line.time >= least,
      }
      for await (const { lines, last } of eachLines(deps, log, stored)) {
        after = last
        for (const part of partsOf(lines)) yield new LogBatch(part)
      }
      after = Math.max(after, end)
      since = undefined
      if (now !== undefined && now !== status) yield { status: (status = now) }
    } else if (event instanceof LogBatch) {
      const news = event.after(after)
      if (news.lines.length === 0) continue
      after = news.last
      const shown = (await shownNow(deps.masks, log.sourceId, news)).only(passes)
      if (shown) yield shown
    } else if (event.status !== status) yield { status: (status = event.status as Status) }
    if (status !== null && statuses?.isEnd(status)) return
  }
}
