import type { LogDb } from '../db/index.ts'
import { resync } from '../live/hub.ts'
import type { Hub } from '../live/hub.ts'
import type { Masks } from './masks.ts'
import { Pace } from '../web/pace.ts'
import { OutputBatch } from './output-batch.ts'
import { listOutput } from './read-output.ts'
import { changedLines } from './shown-lines.ts'

/** Lines, and characters, read from the database at a time; what a reader that lags costs in memory. */
const page = { limit: 1000, maxLength: 64 * 1024 }

/**
 * The kept lines after `after`, then those that are stored from now on, without a gap or a repeat.
 * A reader that falls behind is not cut off: it reads on from the database.
 */
export async function* followOutput(
  { live, logDb, masks }: { live: Hub<OutputBatch>; logDb: LogDb; masks: Masks },
  { sourceId, after, signal }: { sourceId: string; after: number; signal: AbortSignal },
): AsyncGenerator<OutputBatch> {
  for await (const event of live.follow(sourceId, signal)) {
    const pace = new Pace()
    for (const batch of event === resync ? storedBatches() : [event.after(after)]) {
      if (batch.lines.length === 0) continue
      after = batch.last
      const now = await changedLines(masks, sourceId, batch)
      yield now ? new OutputBatch(now.lines, now.state) : batch
      if (event === resync) await pace.step() // a reader that is quick would leave no one else a turn
    }
  }

  function* storedBatches() {
    while (true) {
      const lines = listOutput(logDb, { sourceId, after, ...page })
      if (lines.length === 0) return
      yield new OutputBatch(lines)
    }
  }
}
