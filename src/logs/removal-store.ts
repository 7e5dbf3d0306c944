import { and, eq, lt, sql } from 'drizzle-orm'
import type { LogDb } from '../db/index.ts'
import { deploymentLogs, outputBlocks, outputCursors } from '../db/log-schema.ts'

/** Removes the oldest lines of a deployment's log, some hundreds; false when there are no more. */
export const deleteLogRows = (logDb: LogDb, deploymentId: string) =>
  logDb
    .delete(deploymentLogs)
    .where(
      and(
        eq(deploymentLogs.deploymentId, deploymentId),
        lt(
          deploymentLogs.sequence,
          sql`(SELECT min(sequence) + 1000 FROM deployment_logs WHERE deployment_id = ${deploymentId})`,
        ),
      ),
    )
    .returning({ sequence: deploymentLogs.sequence })
    .all().length > 0

/** Removes some of the output that is kept of an environment or service; false when there is no more. */
export const deleteSomeOutput = (logDb: LogDb, sourceId: string) =>
  logDb
    .delete(outputBlocks)
    .where(
      and(
        eq(outputBlocks.sourceId, sourceId),
        sql`id IN (SELECT id FROM output_blocks WHERE source_id = ${sourceId} LIMIT 50)`,
      ),
    )
    .returning({ id: outputBlocks.id })
    .all().length > 0

/** Removes what is kept of the output of an environment or service. */
export const deleteOutput = (logDb: LogDb, sourceId: string) =>
  logDb.transaction(() => {
    logDb.delete(outputBlocks).where(eq(outputBlocks.sourceId, sourceId)).run()
    logDb.delete(outputCursors).where(eq(outputCursors.sourceId, sourceId)).run()
  })
