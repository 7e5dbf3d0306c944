import { and, asc, desc, eq, gt, gte, inArray, lt, lte, sql } from 'drizzle-orm'
import type { Db, LogDb } from '../db/index.ts'
import { outputBlocks, outputCursors } from '../db/log-schema.ts'
import { environments, services } from '../db/schema.ts'

export type Block = typeof outputBlocks.$inferSelect
export type Cursor = typeof outputCursors.$inferSelect
type NewBlock = Omit<Block, 'id'>

/** Whether the environment or service is still there: what comes later for one that is gone is dropped. */
export const hasSource = (db: Db, sourceId: string) =>
  db
    .select({ id: environments.id })
    .from(environments)
    .where(eq(environments.id, sourceId))
    .get() !== undefined ||
  db.select({ id: services.id }).from(services).where(eq(services.id, sourceId)).get() !== undefined

export const getNewestBlock = (logDb: LogDb, sourceId: string): Block | undefined =>
  logDb
    .select()
    .from(outputBlocks)
    .where(eq(outputBlocks.sourceId, sourceId))
    .orderBy(desc(outputBlocks.first))
    .limit(1)
    .get()

/** The first block with lines after that sequence. */
export const getBlockAfter = (
  logDb: LogDb,
  { sourceId, after }: { sourceId: string; after: number },
): Block | undefined =>
  logDb
    .select()
    .from(outputBlocks)
    .where(and(eq(outputBlocks.sourceId, sourceId), gt(outputBlocks.last, after)))
    .orderBy(asc(outputBlocks.first))
    .limit(1)
    .get()

/** The last block with lines before that sequence. */
export const getBlockBefore = (
  logDb: LogDb,
  { sourceId, before }: { sourceId: string; before: number },
): Block | undefined =>
  logDb
    .select()
    .from(outputBlocks)
    .where(
      and(
        eq(outputBlocks.sourceId, sourceId),
        lt(outputBlocks.first, before),
        lte(outputBlocks.first, outputBlocks.last),
      ),
    )
    .orderBy(desc(outputBlocks.first))
    .limit(1)
    .get()

/** The sequence before the first block that reaches to that time; null when none does. */
export const getSequenceBefore = (
  logDb: LogDb,
  { sourceId, time }: { sourceId: string; time: number },
) =>
  logDb
    .select({ before: sql<number>`${outputBlocks.first} - 1` })
    .from(outputBlocks)
    .where(and(eq(outputBlocks.sourceId, sourceId), gte(outputBlocks.lastTime, time)))
    .orderBy(asc(outputBlocks.first))
    .limit(1)
    .get()?.before ?? null

/** Sequences of the first and last line kept, since when they are kept, and the bytes they take. */
export function getExtent(logDb: LogDb, sourceId: string) {
  const blocks = eq(outputBlocks.sourceId, sourceId)
  const ends = logDb
    .select({
      first: sql<number | null>`min(${outputBlocks.first})`,
      last: sql<number | null>`max(${outputBlocks.last})`,
      bytes: sql<number>`coalesce(sum(length(${outputBlocks.data})), 0)`,
    })
    .from(outputBlocks)
    .where(blocks)
    .get()!
  const since = logDb
    .select({ time: outputBlocks.firstTime })
    .from(outputBlocks)
    .where(and(blocks, lte(outputBlocks.first, outputBlocks.last)))
    .orderBy(asc(outputBlocks.first))
    .limit(1)
    .get()
  const { first, last, bytes } = ends
  return { first: first ?? 1, last: last ?? 0, bytes, since: since?.time ?? null }
}

export const insertBlock = (logDb: LogDb, block: NewBlock) =>
  logDb.insert(outputBlocks).values(block).returning({ id: outputBlocks.id }).get().id

export const replaceBlock = (logDb: LogDb, { id, ...block }: Block) =>
  logDb.update(outputBlocks).set(block).where(eq(outputBlocks.id, id)).run()

/** Removes the oldest block, but never the newest; answers the bytes that went, null when none did. */
export function deleteOldestBlock(logDb: LogDb, sourceId: string): number | null {
  const [oldest, next] = logDb
    .select({ id: outputBlocks.id, bytes: sql<number>`length(${outputBlocks.data})` })
    .from(outputBlocks)
    .where(eq(outputBlocks.sourceId, sourceId))
    .orderBy(asc(outputBlocks.first))
    .limit(2)
    .all()
  if (!oldest || !next) return null
  logDb.delete(outputBlocks).where(eq(outputBlocks.id, oldest.id)).run()
  return oldest.bytes
}

/** When the oldest block that has lines was written last; null when there is none. */
export const getOldestTime = (logDb: LogDb) =>
  logDb
    .select({ time: outputBlocks.lastTime })
    .from(outputBlocks)
    .where(lte(outputBlocks.first, outputBlocks.last))
    .orderBy(asc(outputBlocks.lastTime))
    .limit(1)
    .get()?.time ?? null

/**
 * Removes blocks whose last line is older. Of each source the newest one stays, emptied, because the
 * lines to come are numbered after it.
 */
export const deleteBlocksBefore = (logDb: LogDb, time: number) =>
  logDb.transaction(() => {
    const old = logDb
      .select({ id: outputBlocks.id, sourceId: outputBlocks.sourceId, last: outputBlocks.last })
      .from(outputBlocks)
      .where(lt(outputBlocks.lastTime, time))
      .all()
    for (const { id, sourceId, last } of old)
      if (getBlockAfter(logDb, { sourceId, after: last }))
        logDb.delete(outputBlocks).where(eq(outputBlocks.id, id)).run()
      else
        logDb
          .update(outputBlocks)
          .set({ first: last + 1, data: Buffer.alloc(0) })
          .where(eq(outputBlocks.id, id))
          .run()
  })

export const listSources = (logDb: LogDb) =>
  logDb
    .selectDistinct({ id: outputBlocks.sourceId })
    .from(outputBlocks)
    .all()
    .map(({ id }) => id)

export const getCursor = (logDb: LogDb, containerId: string): Cursor | undefined =>
  logDb.select().from(outputCursors).where(eq(outputCursors.containerId, containerId)).get()

export const listCursors = (logDb: LogDb): Cursor[] => logDb.select().from(outputCursors).all()

export const saveCursor = (logDb: LogDb, cursor: Cursor) =>
  logDb
    .insert(outputCursors)
    .values(cursor)
    .onConflictDoUpdate({ target: outputCursors.containerId, set: cursor })
    .run()

export const deleteCursors = (logDb: LogDb, containerIds: string[]) =>
  logDb.delete(outputCursors).where(inArray(outputCursors.containerId, containerIds)).run()
