import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'
import { LogWriter } from './log-writer.ts'
import { isEnded, moveDeployment, updateDeployment } from './store.ts'
import type { Deployment } from './store.ts'

/** Ends a deployment that has not come to its end; resolves when what it made is gone. */
export async function cancelDeployment(
  deps: Pick<Deps, 'db' | 'logDb' | 'logs' | 'queue'>,
  { deployment, by }: { deployment: Deployment; by: string },
) {
  const { id, status } = deployment
  if (isEnded(status))
    throw new AppError(
      'conflict',
      `This deployment is ${status} already: there is nothing to cancel.`,
    )
  updateDeployment(deps.db, id, { cancelRequested: true })
  if (await deps.queue.cancel(id)) return
  const log = new LogWriter(deps, { deploymentId: id, mask: (text) => text })
  log.write(`Cancelled by ${by} while it waited.`)
  log.flush()
  const moved = { id, from: ['pending'] as const, status: 'cancelled' as const }
  if (moveDeployment(deps.db, { ...moved, finishedAt: new Date() }))
    deps.logs.publish(id, { status: 'cancelled' })
}
