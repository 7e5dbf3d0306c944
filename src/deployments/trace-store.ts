import { and, eq } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { getRow, listValues } from '../db/queries.ts'
import { deployments, deploymentTraces, drains, drainTraces } from '../db/schema.ts'

/**
 * Replaces that of an earlier attempt, and queues it for the drains that send traces. Nothing is stored for a
 * deployment that was deleted meanwhile.
 */
export const saveTrace = (db: Db, deploymentId: string, data: Buffer) =>
  db.transaction((tx) => {
    const found = getRow(tx, deployments, eq(deployments.id, deploymentId))
    if (!found) return
    tx.insert(deploymentTraces)
      .values({ deploymentId, data })
      .onConflictDoUpdate({ target: deploymentTraces.deploymentId, set: { data } })
      .run()
    const sends = and(eq(drains.environmentId, found.environmentId), eq(drains.traces, true))
    for (const drainId of listValues(tx, drains.id, sends))
      tx.insert(drainTraces).values({ drainId, deploymentId }).onConflictDoNothing().run()
  })

export const getTrace = (db: Db, id: string): Buffer | null =>
  getRow(db, deploymentTraces, eq(deploymentTraces.deploymentId, id))?.data ?? null
