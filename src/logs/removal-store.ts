import { and, eq, inArray } from 'drizzle-orm'
import type { LogDb } from '../db/index.ts'
import { outputBlocks, outputCursors } from '../db/log-schema.ts'
import { pause } from '../platform/pause.ts'
import { deleteSomeRows } from './old-rows-store.ts'
import type { LogKey } from './store.ts'

/** Blocks that are removed before other work has its turn. */
const atOnce = 50

/** Removes some of a log, or of all logs of an environment or service; false when there is no more. */
export function deleteSome(logDb: LogDb, { sourceId, logId }: Partial<LogKey>) {
  const some = logDb
    .select({ id: outputBlocks.id })
    .from(outputBlocks)
    .where(
      and(
        sourceId === undefined ? undefined : eq(outputBlocks.sourceId, sourceId),
        logId === undefined ? undefined : eq(outputBlocks.logId, logId),
      ),
    )
    .limit(atOnce)
  const gone = logDb
    .delete(outputBlocks)
    .where(inArray(outputBlocks.id, some))
    .returning({ id: outputBlocks.id })
    .all()
  return gone.length > 0 || (logId !== undefined && deleteSomeRows(logDb, logId))
}

/** Removes all logs of an environment or service, and how far its containers have been read. */
export async function removeLogsOf(logDb: LogDb, sourceId: string) {
  while (deleteSome(logDb, { sourceId })) await pause()
  logDb.delete(outputCursors).where(eq(outputCursors.sourceId, sourceId)).run()
}
