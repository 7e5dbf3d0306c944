import type { Deps } from '../deps.ts'
import { LogWriter } from './log-writer.ts'
import { supersedeWaiting } from './store.ts'
import type { Deployment } from './store.ts'

/** Of those that wait for an environment only the newest is worth running. */
export function supersedeOlder(
  deps: Pick<Deps, 'db' | 'logDb' | 'logs'>,
  newest: Pick<Deployment, 'id' | 'environmentId'>,
) {
  for (const { id } of supersedeWaiting(deps.db, newest)) {
    const log = new LogWriter(deps, id)
    log.write('A newer deployment of this environment took its place while it waited.')
    log.flush()
    deps.logs.publish(id, { status: 'superseded' })
  }
}
