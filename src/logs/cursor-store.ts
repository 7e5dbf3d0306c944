import { eq, inArray } from 'drizzle-orm'
import type { LogDb } from '../db/index.ts'
import { outputCursors } from '../db/log-schema.ts'
import { overwriting, placeholders, preparedOnce } from '../db/queries.ts'

/** The position up to which a container's output was read. */
export type Cursor = typeof outputCursors.$inferSelect

export const getCursor = (logDb: LogDb, containerId: string): Cursor | undefined =>
  logDb.select().from(outputCursors).where(eq(outputCursors.containerId, containerId)).get()

export const listCursors = (logDb: LogDb): Cursor[] => logDb.select().from(outputCursors).all()

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
