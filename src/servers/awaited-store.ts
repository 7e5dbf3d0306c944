import { and, eq, exists, inArray, isNotNull, or, sql } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { deployments, instances, restoredObjects, servers, workloads } from '../db/schema.ts'

/** Servers that are away and have a workload’s volumes, or containers of it that should run, or may have them. */
export function listAwaited(db: Db, workloadId: string) {
  const isRunning = inArray(instances.state, ['live', 'unhealthy'])
  const running = db
    .select({ id: instances.serverId })
    .from(instances)
    .where(and(eq(instances.workloadId, workloadId), isRunning))
  const pinnedTo = db
    .select({ id: workloads.pinnedTo })
    .from(workloads)
    .where(eq(workloads.id, workloadId))
  const hasVolumes = sql<boolean>`coalesce(${servers.id} = ${pinnedTo}, 0)`.mapWith(Boolean)
  const runsNowhere = sql`${pinnedTo} is not null and not exists ${running}`
  const isSought = sql<boolean>`${runsNowhere} and ${soughtOf(db, workloadId)}`.mapWith(Boolean)
  const found = db
    .select({ name: servers.name, lastSeenAt: servers.lastSeenAt, hasVolumes, isSought })
    .from(servers)
    .where(
      and(isNotNull(servers.lastSeenAt), or(inArray(servers.id, running), hasVolumes, isSought)),
    )
    .all()
  const isPinned = found.some((one) => one.hasVolumes)
  return isPinned ? found.filter((one) => one.hasVolumes || !one.isSought) : found
}

/** Since a restore of Davit: it runs nowhere, and is still looked for. */
function soughtOf(db: Db, workloadId: string) {
  const ofApp = db
    .select({ id: deployments.id })
    .from(deployments)
    .where(eq(deployments.environmentId, workloadId))
  const { objectId } = restoredObjects
  return exists(
    db
      .select({ id: restoredObjects.id })
      .from(restoredObjects)
      .where(or(eq(objectId, workloadId), inArray(objectId, ofApp))),
  )
}

export type Awaited = ReturnType<typeof listAwaited>[number]
