import type { Db, LogDb } from '../db/index.ts'
import { LogWriter } from '../logs/log-writer.ts'
import type { Logs } from '../logs/logs.ts'
import { deleteSome } from '../logs/store.ts'
import { report } from '../platform/journal.ts'
import { logOf } from './store.ts'
import type { Deployment } from './store.ts'
import { forgetNeverBegun } from './waiting-store.ts'
import type { Queued } from './waiting-store.ts'

type TellDeps = { db: Db; logDb: LogDb; logs: Logs }

/**
 * Logs a deployment's outcome and publishes it, once it is stored. The line comes before the end of the log.
 * Never call it inside a transaction, which may be rolled back.
 */
export function publishOutcome(
  deps: TellDeps,
  { id, environmentId }: Pick<Deployment, 'id' | 'environmentId'>,
  { status, line }: { status: Deployment['status']; line: string | null },
) {
  const log = new LogWriter(deps, logOf({ id, environmentId }))
  if (line) log.write(line)
  log.end()
  deps.logs.publish(id, { status })
}

/** Publishes superseded deployments, and deletes old ones, as a burst of pushes can leave many. */
export function publishSuperseded(deps: TellDeps, { deployment, superseded }: Queued) {
  const line = 'A newer deployment of this environment superseded it while queued.'
  for (const one of superseded) publishOutcome(deps, one, { status: 'superseded', line })
  const { environmentId } = deployment
  try {
    for (const { id } of forgetNeverBegun(deps.db, environmentId))
      deleteSome(deps.logDb, { logId: id })
  } catch (error) {
    report('old deployments were not deleted', error, { environment: environmentId })
  }
}
