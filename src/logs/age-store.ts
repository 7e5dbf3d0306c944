import { and, eq, gt } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { deployments } from '../db/schema.ts'

/**
 * Since when a deployment has a log, and whether it is among the newest of its environment; undefined
 * when there is no such deployment.
 */
export function getAgeOfLog(db: Db, { id, newest }: { id: string; newest: number }) {
  const found = db
    .select({
      environmentId: deployments.environmentId,
      status: deployments.status,
      createdAt: deployments.createdAt,
      finishedAt: deployments.finishedAt,
    })
    .from(deployments)
    .where(eq(deployments.id, id))
    .get()
  if (!found) return
  const { environmentId, status, createdAt, finishedAt } = found
  const later = db
    .select({ id: deployments.id })
    .from(deployments)
    .where(and(eq(deployments.environmentId, environmentId), gt(deployments.id, id)))
    .limit(1)
    .offset(newest - 1)
    .get()
  return { createdAt, finishedAt, isAmongNewest: !later || status === 'running' }
}
