import type { Deps } from '../deps.ts'
import { resync } from '../live/hub.ts'
import { changedLines } from '../logs/shown-lines.ts'
import { Pace } from '../web/pace.ts'
import { LogBatch } from './log-batch.ts'
import { listLines } from './log-store.ts'
import { getStatus, isEnded } from './store.ts'
import type { Status } from './store.ts'

/** Lines, and characters, read from the database at a time; what a reader that lags costs in memory. */
const page = { limit: 1000, maxLength: 64 * 1024 }

/**
 * The lines after `after`, stored ones first, then live ones, without a gap or a repeat, and every
 * change of state between. Ends after the state that ends the pipeline. A reader that falls behind
 * is not cut off: it reads on from the database.
 */
export async function* followLog(
  { db, logDb, logs, masks }: Pick<Deps, 'db' | 'logDb' | 'logs' | 'masks'>,
  {
    deploymentId,
    environmentId,
    after,
    signal,
  }: { deploymentId: string; environmentId: string; after: number; signal: AbortSignal },
): AsyncGenerator<LogBatch | { status: Status }> {
  let status: Status | null = null
  for await (const event of logs.follow(deploymentId, signal)) {
    if (event === resync) {
      // read after subscribing, and before the lines: a state that ended has all its lines stored
      const now = getStatus(db, deploymentId)
      const pace = new Pace()
      for (const batch of storedBatches()) {
        after = batch.last
        yield await shown(batch)
        await pace.step() // a reader that is quick would leave no one else a turn
      }
      if (now !== status) yield { status: (status = now) }
      if (isEnded(now)) return
    } else if (event instanceof LogBatch) {
      const news = event.after(after)
      if (news.lines.length === 0) continue
      after = news.last
      yield await shown(news)
    } else if (event.status !== status) {
      yield { status: (status = event.status) }
      if (isEnded(status)) return
    }
  }

  async function shown(batch: LogBatch) {
    const now = await changedLines(masks, environmentId, batch)
    return now ? new LogBatch(now.lines, now.state) : batch
  }

  function* storedBatches() {
    while (true) {
      const lines = listLines(logDb, { deploymentId, after, ...page })
      if (lines.length === 0) return
      yield new LogBatch(lines)
    }
  }
}
