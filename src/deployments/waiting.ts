import type { Db, LogDb } from '../db/index.ts'
import type { Logs } from '../logs/logs.ts'
import { report } from '../platform/journal.ts'
import { deleteSome } from '../logs/store.ts'
import { LogWriter } from '../logs/log-writer.ts'
import { forgetNeverBegun, supersedeWaiting } from './waiting-store.ts'
import type { Deployment } from './store.ts'

/** A deployment that was put into the queue, and those that gave way to it. */
export type Queued = { deployment: Deployment; superseded: Deployment[] }

/** Of those that wait for an environment only the newest is worth running. */
export const supersedeOlder = (db: Db, deployment: Deployment): Queued => ({
  deployment,
  superseded: supersedeWaiting(db, deployment),
})

/**
 * Tells those who follow what was superseded, once that is stored: never inside a transaction, which
 * may be rolled back. Of the many that a storm of pushes can leave, old ones are forgotten.
 */
export function tellSuperseded(
  deps: { db: Db; logDb: LogDb; logs: Logs },
  { deployment: { environmentId }, superseded }: Queued,
) {
  for (const { id } of superseded) {
    const log = new LogWriter(deps, { sourceId: environmentId, logId: id })
    log.write('A newer deployment of this environment took its place while it waited.')
    log.end()
    deps.logs.publish(id, { status: 'superseded' })
  }
  try {
    for (const { id } of forgetNeverBegun(deps.db, environmentId))
      deleteSome(deps.logDb, { logId: id })
  } catch (error) {
    report('old deployments were not forgotten', error, { environment: environmentId })
  }
}
