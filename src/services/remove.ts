import { removeLogsOf } from '../logs/removal-store.ts'
import type { LogDb } from '../db/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { removeFromEngine } from '../runtime/remove.ts'
import type { ServiceDeps } from './state.ts'
import { deleteService } from './store.ts'
import type { Service } from './store.ts'

export type RemovalDeps = ServiceDeps & { jobs: Jobs; logDb: LogDb }

/**
 * Deletes an instance and what Davit made for it; its named volumes only when asked. Who calls it has
 * stored the intent, and every step can be repeated: what a crash leaves is taken up at the next start.
 */
export async function removeService(
  deps: RemovalDeps,
  { service, volumes }: { service: Service; volumes: boolean },
) {
  await deps.jobs.cancelAll({ subjectIds: [service.id] })
  const removed = await removeFromEngine(deps, {
    kind: 'service',
    serviceId: service.id,
    volumes,
  })
  await removeLogsOf(deps.logDb, service.id)
  deleteService(deps.db, service.id)
  deps.serviceEvents.publish(service.id, { deleted: true })
  return [...removed, { kind: 'service', name: service.name }]
}
