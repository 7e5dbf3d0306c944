import { and, eq, isNotNull } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { deployments, outbox, projects } from '../db/schema.ts'
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

/** Those that wait, of projects that get another owner. */
export const giveStatuses = (tx: Tx, { from, to }: { from: string; to: string }) =>
  tx
    .update(outbox)
    .set({ ownerId: to })
    .where(and(eq(outbox.ownerId, from), eq(outbox.kind, 'commit_status')))
    .run()
