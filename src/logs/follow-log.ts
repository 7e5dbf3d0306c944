import type { LogDb } from '../db/index.ts'
import { resync } from '../live/hub.ts'
import { pause } from '../platform/pause.ts'
import { readBlock } from './block.ts'
import { LogBatch } from './log-batch.ts'
import { channelOf } from './logs.ts'
import type { Logs } from './logs.ts'
import type { Masks } from './masks.ts'
import { blocksAfter } from './read-log.ts'
import { changedLines } from './shown-lines.ts'
import type { LogKey } from './store.ts'

/** What a log's subject comes to, told between the lines: `now` as it is stored, `isEnd` of the last one. */
export type Statuses<Status> = { now: () => Status; isEnd: (status: Status) => boolean }

/**
 * The lines after `after`, stored ones first, then live ones, without a gap or a repeat, and every
 * change of status between. Ends after the last status. A reader that falls behind is not cut off:
 * it reads on from the database.
 */
export async function* followLog<Status extends string = never>(
  { logDb, logs, masks }: { logDb: LogDb; logs: Logs; masks: Masks },
  log: LogKey,
  {
    after,
    signal,
    statuses,
  }: { after: number; signal: AbortSignal; statuses?: Statuses<Status> | undefined },
): AsyncGenerator<LogBatch | { status: Status }> {
  let status: Status | null = null
  for await (const event of logs.follow(channelOf(log), signal)) {
    if (event === resync) {
      // read after subscribing, and before the lines: a status that is the last has all lines stored
      const now = statuses?.now()
      for (const batch of storedBatches()) {
        yield await shown(batch)
        await pause() // a reader that is quick would leave no one else a turn
      }
      if (now !== undefined && now !== status) yield { status: (status = now) }
    } else if (event instanceof LogBatch) {
      const news = event.after(after)
      if (news.lines.length > 0) yield await shown(news)
    } else if (event.status !== status) yield { status: (status = event.status as Status) }
    if (status !== null && statuses?.isEnd(status)) return
  }

  async function shown(batch: LogBatch) {
    after = batch.last
    const now = await changedLines(masks, log.sourceId, batch)
    return now ? new LogBatch(now.lines, now.state) : batch
  }

  /** A block at a time: each is taken apart once, and is what a reader that lags costs in memory. */
  function* storedBatches() {
    for (const block of blocksAfter(logDb, log, after)) {
      const lines = readBlock(block).filter(({ sequence }) => sequence > after)
      if (lines.length > 0) yield new LogBatch(lines)
    }
  }
}
