import { and, eq, inArray, isNull, lt, notInArray, or, sql } from 'drizzle-orm'
import type { LogDb } from '../db/index.ts'
import { outputCursors } from '../db/log-schema.ts'
import { overwriting, placeholders, preparedOnce } from '../db/queries.ts'

/** The position up to which a container's output was read. */
export type Cursor = typeof outputCursors.$inferSelect

export const getCursor = (logDb: LogDb, containerId: string): Cursor | undefined =>
  preparedCursor(logDb).get({ containerId })

const preparedCursor = preparedOnce((logDb: LogDb) =>
  logDb
    .select()
    .from(outputCursors)
    .where(eq(outputCursors.containerId, sql.placeholder('containerId')))
    .prepare(),
)

export const listCursorsOn = (logDb: LogDb, serverId: string): Cursor[] =>
  logDb.select().from(outputCursors).where(eq(outputCursors.serverId, serverId)).all()

export const saveCursor = (logDb: LogDb, cursor: Cursor) => prepared(logDb).run(cursor)

const prepared = preparedOnce((logDb: LogDb) =>
  logDb
    .insert(outputCursors)
    .values(placeholders(outputCursors))
    .onConflictDoUpdate(overwriting(outputCursors, outputCursors.containerId))
    .prepare(),
)

export const deleteCursors = (logDb: LogDb, containerIds: string[]) =>
  logDb.delete(outputCursors).where(inArray(outputCursors.containerId, containerIds)).run()

/**
 * Removes those of other servers than these, so of removed ones, whose last line was read before that time, in
 * milliseconds since 1970. Where a server is added again, its containers are read on from the others.
 */
export function deleteOldCursors(
  logDb: LogDb,
  { servers, before }: { servers: string[]; before: number },
) {
  const { serverId, timestamp } = outputCursors
  const isOld = or(isNull(timestamp), lt(timestamp, new Date(before).toISOString()))
  logDb
    .delete(outputCursors)
    .where(and(notInArray(serverId, servers), isOld))
    .run()
}
