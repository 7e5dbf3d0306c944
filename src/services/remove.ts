import { rememberLinked } from '../logs/secret-store.ts'
import { removeLogsOf } from '../logs/store.ts'
import type { LogDb } from '../db/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { backupsOf } from '../jobs/store.ts'
import { removeAlone, removeFromEngine } from '../runtime/remove.ts'
import type { ServiceDeps } from './state.ts'
import { deleteService } from './store.ts'
import type { Service } from './store.ts'

export type RemovalDeps = ServiceDeps & { jobs: Jobs; logDb: LogDb }

/**
 * Deletes an instance and everything that Davit created for it; its named volumes only if requested. The
 * caller has stored the intent. Every step is repeatable: an interrupted removal resumes at the next start.
 */
export const removeService = (
  deps: RemovalDeps,
  { service: { id, name }, volumes }: { service: Service; volumes: boolean },
) =>
  removeAlone(id, async () => {
    await deps.jobs.cancelAll({ subjectIds: [id, backupsOf(id)] })
    const removed = await removeFromEngine(deps, { kind: 'service', serviceId: id, volumes })
    await removeLogsOf(deps.logDb, id)
    deps.db.transaction(() => {
      rememberLinked(deps, { serviceId: id })
      deleteService(deps.db, id)
    })
    void deps.edge.sync()
    return [...removed, { kind: 'service', name }]
  })
