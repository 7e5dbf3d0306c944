import type { LogDb } from '../db/index.ts'
import { forgetRestored, listRestored } from '../db/restored.ts'
import { labelFilter, readLabels } from '../docker/labels.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { hasJob, insertJob } from '../jobs/store.ts'
import { observeDifferent } from '../runtime/observe.ts'
import { pinWhereFound } from '../runtime/pin-store.ts'
import { mayBeOutOfReach } from '../runtime/pins.ts'
import { isUp } from '../runtime/workload.ts'
import { services } from './observe.ts'
import { serviceJobs, settledStatuses } from './state.ts'
import type { ServiceDeps } from './state.ts'
import { getService, listBeingDeleted, moveService } from './store.ts'
import type { Service } from './store.ts'

/** Resumes after a restart: starts and changes run again, deletions continue. */
export async function recoverServices(
  deps: ServiceDeps & { jobs: Jobs; logDb: LogDb },
  { signal }: { signal: AbortSignal },
) {
  await removeDeleted(deps, { signal })
  await reconcileAfterRestore(deps, { signal })
  await observeDifferent(deps, services, { signal })
  if (signal.aborted) return // the next process resumes the rest
  await deps.jobs.recover(serviceJobs)
  deps.jobs.wake()
}

/** Goes on with what was deleted while something was in its way. */
export async function removeDeleted(
  deps: ServiceDeps & { jobs: Jobs; logDb: LogDb },
  { signal }: { signal: AbortSignal },
) {
  for (const service of listBeingDeleted(deps.db)) {
    const { removeService } = await import('./remove.ts')
    const options = { signal, failed: 'a service was not removed', fields: { service: service.id } }
    await retryWhileEngineDown(deps.docker, options, () =>
      removeService(deps, { service, volumes: service.deletingVolumes }),
    )
  }
}

/** Returns the services that ran at the time of the backup, and where their containers are, or whether they may be out of reach. */
export async function lookForServices({
  db,
  engines,
  instanceId,
}: Pick<ServiceDeps, 'db' | 'engines' | 'instanceId'>) {
  const rows = listRestored(db, 'service')
  const labels = labelFilter(instanceId, { kind: 'service' })
  const { found, reached } = await engines.reachable((docker) =>
    docker.listContainers({ labels, all: true }),
  )
  const there = Map.groupBy(found, ({ labels }) => readLabels(labels).serviceId)
  return rows.map((row) => {
    const own = there.get(row.objectId) ?? []
    const [at = null] = [...own.filter(isUp), ...own].map(({ serverId }) => serverId)
    const isAway = mayBeOutOfReach(db, row.objectId, { reached, isFound: at !== null })
    return { row, service: getService(db, row.objectId) ?? null, isAway, at }
  })
}

/**
 * Finds restored services by the labels of their containers, and starts those without any. What may be on a server that
 * is away stays in the database until that is back, or was removed.
 */
export async function reconcileAfterRestore(
  deps: ServiceDeps,
  { signal }: { signal: AbortSignal },
) {
  if (listRestored(deps.db, 'service').length === 0) return
  const failed = 'restored services could not be looked for'
  await retryWhileEngineDown(deps.docker, { signal, failed }, async () => {
    for (const { row, service, isAway, at } of await lookForServices(deps)) {
      if (service && isAway) continue
      deps.db.transaction((tx) => {
        forgetRestored(tx, row.id)
        if (!service) return
        if (at === null) startLater(deps, service)
        else pinWhereFound(tx, { id: service.id, kind: 'service' }, at)
      })
    }
  })
}

function startLater({ db }: ServiceDeps, { id, ownerId }: Service) {
  const isMoved = moveService(db, { id, from: settledStatuses, status: 'pulling' })
  if (isMoved && !hasJob(db, id))
    insertJob(db, { kind: 'start', subjectId: id, ownerId, slot: 'service' })
}
