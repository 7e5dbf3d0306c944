import { eq } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { getRow } from '../db/queries.ts'
import { deployments, deploymentTraces } from '../db/schema.ts'

/** Replaces that of an earlier attempt. Nothing is stored for a deployment that was deleted meanwhile. */
export const saveTrace = (db: Db, deploymentId: string, data: Buffer) =>
  db.transaction((tx) => {
    if (!getRow(tx, deployments, eq(deployments.id, deploymentId))) return
    tx.insert(deploymentTraces)
      .values({ deploymentId, data })
      .onConflictDoUpdate({ target: deploymentTraces.deploymentId, set: { data } })
      .run()
  })

export const getTrace = (db: Db, id: string): Buffer | null =>
  getRow(db, deploymentTraces, eq(deploymentTraces.deploymentId, id))?.data ?? null
