import { and, eq, isNotNull } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { deployments, projects } from '../db/schema.ts'
import { insertStatus } from '../notifications/outbox-store.ts'

/** The status of a deployment's commit is to be sent, if its project has a provider. */
export function queueStatus(tx: Tx, id: string) {
  const of = tx
    .select({ ownerId: projects.ownerId, lane: projects.id })
    .from(deployments)
    .innerJoin(projects, eq(projects.id, deployments.projectId))
    .where(
      and(eq(deployments.id, id), isNotNull(projects.sourceId), isNotNull(projects.repository)),
    )
    .get()
  if (of) insertStatus(tx, { ...of, subjectId: id })
}
