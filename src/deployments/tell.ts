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
 * Says in a deployment's log what became of it, and tells those who follow it: once it is stored, and the
 * line before the end. Never inside a transaction, which may be rolled back.
 */
export function tell(
  deps: TellDeps,
  { id, environmentId }: Pick<Deployment, 'id' | 'environmentId'>,
  { status, line }: { status: Deployment['status']; line: string | null },
) {
  const log = new LogWriter(deps, logOf({ id, environmentId }))
  if (line) log.write(line)
  log.end()
  deps.logs.publish(id, { status })
}

/** Tells what was superseded. Of the many that a storm of pushes can leave, old ones are forgotten. */
export function tellSuperseded(deps: TellDeps, { deployment, superseded }: Queued) {
  const line = 'A newer deployment of this environment took its place while it waited.'
  for (const one of superseded) tell(deps, one, { status: 'superseded', line })
  const { environmentId } = deployment
  try {
    for (const { id } of forgetNeverBegun(deps.db, environmentId))
      deleteSome(deps.logDb, { logId: id })
  } catch (error) {
    report('old deployments were not forgotten', error, { environment: environmentId })
  }
}
