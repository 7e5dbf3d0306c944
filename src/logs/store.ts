import { and, asc, desc, eq, gt, gte, inArray, lt, lte, ne, sql } from 'drizzle-orm'
import type { Db, LogDb } from '../db/index.ts'
import { outputBlocks, outputCursors } from '../db/log-schema.ts'
import { environments, services } from '../db/schema.ts'
import { getRowExtent, getRowsAfter, getRowsBefore } from './old-rows-store.ts'

/** Which log: what the containers of an environment or service wrote, or that of a deployment or job of it. */
export type LogKey = {
  /** The environment or service, whose secrets are hidden in it. */
  sourceId: string
  /** The deployment or job; empty for what the containers wrote. */
  logId: string
}

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

const isOf = ({ sourceId, logId }: LogKey) =>
  and(eq(outputBlocks.sourceId, sourceId), eq(outputBlocks.logId, logId))

/** Blocks of which all lines were removed are empty, and have the number of the next line. */
const hasLines = lte(outputBlocks.first, outputBlocks.last)

export const getNewestBlock = (logDb: LogDb, log: LogKey): Block | undefined =>
  logDb
    .select()
    .from(outputBlocks)
    .where(isOf(log))
    .orderBy(desc(outputBlocks.first))
    .limit(1)
    .get()

/** The first block with lines after that sequence. */
export function getBlockAfter(logDb: LogDb, { after, ...log }: LogKey & { after: number }) {
  const block = logDb
    .select()
    .from(outputBlocks)
    .where(and(isOf(log), gt(outputBlocks.last, after)))
    .orderBy(asc(outputBlocks.first))
    .limit(1)
    .get()
  const rows = getRowsAfter(logDb, { ...log, after })
  return rows && (!block || rows.first < block.first) ? rows : block
}

/** The last block with lines before that sequence. */
export function getBlockBefore(logDb: LogDb, { before, ...log }: LogKey & { before: number }) {
  const block = logDb
    .select()
    .from(outputBlocks)
    .where(and(isOf(log), lt(outputBlocks.first, before), hasLines))
    .orderBy(desc(outputBlocks.first))
    .limit(1)
    .get()
  const rows = getRowsBefore(logDb, { ...log, before })
  return rows && (!block || rows.first > block.first) ? rows : block
}

/** The sequence before the first block that reaches to that time; null when none does. */
export const getSequenceBefore = (logDb: LogDb, { time, ...log }: LogKey & { time: number }) =>
  logDb
    .select({ before: sql<number>`${outputBlocks.first} - 1` })
    .from(outputBlocks)
    .where(and(isOf(log), gte(outputBlocks.lastTime, time)))
    .orderBy(asc(outputBlocks.first))
    .limit(1)
    .get()?.before ?? null

/** Sequences of the first and last line kept, since when they are kept, and the bytes they take. */
export function getExtent(logDb: LogDb, log: LogKey) {
  const ends = logDb
    .select({
      first: sql<number | null>`min(${outputBlocks.first})`,
      last: sql<number | null>`max(${outputBlocks.last})`,
      bytes: sql<number>`coalesce(sum(length(${outputBlocks.data})), 0)`,
    })
    .from(outputBlocks)
    .where(isOf(log))
    .get()!
  const since = logDb
    .select({ time: outputBlocks.firstTime })
    .from(outputBlocks)
    .where(and(isOf(log), hasLines))
    .orderBy(asc(outputBlocks.first))
    .limit(1)
    .get()
  const rows = getRowExtent(logDb, log)
  return {
    first: Math.min(ends.first ?? Infinity, rows?.first ?? Infinity, (ends.last ?? 0) + 1),
    last: Math.max(ends.last ?? 0, rows?.last ?? 0),
    bytes: ends.bytes,
    since: since?.time ?? null,
  }
}

export const insertBlock = (logDb: LogDb, block: NewBlock) =>
  logDb.insert(outputBlocks).values(block).returning({ id: outputBlocks.id }).get().id

export const replaceBlock = (logDb: LogDb, { id, ...block }: Block) =>
  logDb.update(outputBlocks).set(block).where(eq(outputBlocks.id, id)).run()

/** Removes the oldest block, but never the newest; answers the bytes that went, null when none did. */
export function deleteOldestBlock(logDb: LogDb, log: LogKey): number | null {
  const [oldest, next] = logDb
    .select({ id: outputBlocks.id, bytes: sql<number>`length(${outputBlocks.data})` })
    .from(outputBlocks)
    .where(isOf(log))
    .orderBy(asc(outputBlocks.first))
    .limit(2)
    .all()
  if (!oldest || !next) return null
  logDb.delete(outputBlocks).where(eq(outputBlocks.id, oldest.id)).run()
  return oldest.bytes
}

/** Of what containers wrote. */
const isOutput = eq(outputBlocks.logId, '')

/** When the oldest block of output that has lines was written last; null when there is none. */
export const getOldestTime = (logDb: LogDb) =>
  logDb
    .select({ time: outputBlocks.lastTime })
    .from(outputBlocks)
    .where(and(isOutput, hasLines))
    .orderBy(asc(outputBlocks.lastTime))
    .limit(1)
    .get()?.time ?? null

/**
 * Removes blocks of output whose last line is older. Of each source the newest one stays, emptied,
 * because the lines to come are numbered after it.
 */
export const deleteBlocksBefore = (logDb: LogDb, time: number) =>
  logDb.transaction(() => {
    const old = logDb
      .select({ id: outputBlocks.id, sourceId: outputBlocks.sourceId, last: outputBlocks.last })
      .from(outputBlocks)
      .where(and(isOutput, lt(outputBlocks.lastTime, time)))
      .all()
    for (const { id, sourceId, last } of old)
      if (getBlockAfter(logDb, { sourceId, logId: '', after: last }))
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

/** The logs of an environment's deployments or a service's jobs, newest first. */
export const listJobLogs = (logDb: LogDb, sourceId: string): LogKey[] =>
  logDb
    .selectDistinct({ sourceId: outputBlocks.sourceId, logId: outputBlocks.logId })
    .from(outputBlocks)
    .where(and(eq(outputBlocks.sourceId, sourceId), ne(outputBlocks.logId, '')))
    .orderBy(desc(outputBlocks.logId))
    .all()

/** The log of a deployment or job whose id comes after that one; undefined at the end. */
export const getNextLog = (logDb: LogDb, logId: string): LogKey | undefined =>
  logDb
    .select({ sourceId: outputBlocks.sourceId, logId: outputBlocks.logId })
    .from(outputBlocks)
    .where(and(ne(outputBlocks.logId, ''), gt(outputBlocks.logId, logId)))
    .orderBy(asc(outputBlocks.logId))
    .limit(1)
    .get()

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
