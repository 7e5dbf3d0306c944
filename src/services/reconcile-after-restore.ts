import type { Db } from '../db/index.ts'
import { forgetRestored, listRestored } from '../db/restored.ts'
import type { Docker } from '../docker/index.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import { labelFilter, readLabels } from '../docker/labels.ts'
import { hasJob, insertJob } from '../jobs/store.ts'
import { getService, moveService } from './store.ts'
import type { Service } from './store.ts'

type LookDeps = { db: Db; docker: Docker; instanceId: string }

/** What ran when the backup was made, and whether the engine has containers of it. */
export async function lookForServices({ db, docker, instanceId }: LookDeps) {
  const rows = listRestored(db, 'service')
  const containers = await docker.listContainers({
    labels: labelFilter(instanceId, { kind: 'service' }),
    all: true,
  })
  const there = new Set(containers.map(({ labels }) => readLabels(labels).serviceId))
  return rows.map((row) => ({
    row,
    service: getService(db, row.objectId) ?? null,
    isThere: there.has(row.objectId),
  }))
}

/**
 * After a restore: services are found by the labels of their containers; of what is not there any more
 * the state says that it is to be started.
 */
export async function reconcileServicesAfterRestore(
  deps: LookDeps,
  { signal }: { signal: AbortSignal },
) {
  if (listRestored(deps.db, 'service').length === 0) return
  const failed = 'what a backup brought back was not looked for'
  await retryWhileEngineDown(deps.docker, { signal, failed }, async () => {
    for (const { row, service, isThere } of await lookForServices(deps))
      deps.db.transaction((tx) => {
        forgetRestored(tx, row.id)
        if (service && !isThere) startLater(deps, service)
      })
  })
}

function startLater({ db }: { db: Db }, { id, ownerId }: Service) {
  const from = ['running', 'unhealthy', 'stopped'] as const
  if (moveService(db, { id, from, status: 'pulling' }) && !hasJob(db, id))
    insertJob(db, { kind: 'start', subjectId: id, ownerId, slot: 'service' })
}
