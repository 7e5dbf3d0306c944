import { and, asc, desc, eq, gt, gte, inArray, lt, lte, ne, sql } from 'drizzle-orm'
import type { Placeholder } from 'drizzle-orm'
import type { Db, LogDb } from '../db/index.ts'
import { getRow, listValues, overwriting, placeholders, preparedOnce } from '../db/queries.ts'
import { drainCursors, outputBlocks, outputCursors, trafficSeries } from '../db/log-schema.ts'
import { backups, deployments, environments, instances, services } from '../db/schema.ts'
import { pause } from '../platform/pause.ts'

/** Identifies the output of an environment or service, or the log of one of its deployments or jobs. */
export type LogKey = {
  /** The environment or service, whose secrets are masked in it, or a backup. */
  sourceId: string
  /** The deployment or job; empty for containers' output. */
  logId: string
}

export type Block = typeof outputBlocks.$inferSelect

const value = sql.placeholder

const preparedSource = preparedOnce((db: Db) =>
  [environments, services, backups].map((table) =>
    db
      .select({ id: table.id })
      .from(table)
      .where(eq(table.id, value('sourceId')))
      .prepare(),
  ),
)

/** False when the environment, service or backup was deleted; later output is then dropped. */
export const hasSource = (db: Db, sourceId: string) =>
  preparedSource(db).some((query) => query.get({ sourceId }) !== undefined)

/** The log for a container's output: that of the job for a container that runs once for a job. */
export function outputLogOf(
  db: Db,
  { containerId, sourceId }: { containerId: string; sourceId: string },
): LogKey {
  const runsOnce = and(eq(instances.containerId, containerId), eq(instances.state, 'once'))
  return { sourceId, logId: getRow(db, instances, runsOnce)?.id ?? '' }
}

export const isOf = ({ sourceId, logId }: Record<keyof LogKey, string | Placeholder>) =>
  and(eq(outputBlocks.sourceId, sourceId), eq(outputBlocks.logId, logId))

/** A block whose lines were all removed is empty, and has the number of the next line. */
const hasLines = lte(outputBlocks.first, outputBlocks.last)

export const getNewestBlock = (logDb: LogDb, log: LogKey): Block | undefined =>
  prepared(logDb).newest.get(log)

/** The first block with lines after a sequence number. */
export const getBlockAfter = (
  logDb: LogDb,
  wanted: LogKey & { after: number },
): Block | undefined => prepared(logDb).after.get(wanted)

/** The last block with lines before a sequence number. */
export const getBlockBefore = (
  logDb: LogDb,
  wanted: LogKey & { before: number },
): Block | undefined => prepared(logDb).before.get(wanted)

/** The sequence number before the first block that reaches to that time; null when none does. */
export function getSequenceBefore(logDb: LogDb, { time, ...log }: LogKey & { time: number }) {
  const reaches = and(isOf(log), gte(outputBlocks.lastTime, time))
  const block = getRow(logDb, outputBlocks, reaches, asc(outputBlocks.first))
  return block ? block.first - 1 : null
}

/** The first and last stored sequence number, the time of the first line, and the bytes of all blocks. */
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
  const last = ends.last ?? 0
  return {
    first: ends.first ?? last + 1,
    last,
    bytes: ends.bytes,
    since: since?.time ?? null,
  }
}

/** Adds a block, or overwrites the one with that id. Returns its id. */
export const saveBlock = (logDb: LogDb, block: Omit<Block, 'id'> & { id: number | null }): number =>
  prepared(logDb).save.get(block)!.id

/** Queries for every batch of lines: statements that are prepared each time would fill the memory. */
const prepared = preparedOnce((logDb: LogDb) => {
  const isOfLog = isOf({ sourceId: value('sourceId'), logId: value('logId') })
  const { id, first, last } = outputBlocks
  const blocks = () => logDb.select().from(outputBlocks).$dynamic()
  return {
    newest: blocks().where(isOfLog).orderBy(desc(first)).limit(1).prepare(),
    after: blocks()
      .where(and(isOfLog, gt(last, value('after'))))
      .orderBy(asc(first))
      .limit(1)
      .prepare(),
    before: blocks()
      .where(and(isOfLog, lt(first, value('before')), hasLines))
      .orderBy(desc(first))
      .limit(1)
      .prepare(),
    save: logDb
      .insert(outputBlocks)
      .values(placeholders(outputBlocks))
      .onConflictDoUpdate(overwriting(outputBlocks, id))
      .returning({ id })
      .prepare(),
  }
})

/** Removes the oldest block, but never the newest. Returns its size in bytes; null when there was none. */
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

/** Matches output of containers. */
const isOutput = eq(outputBlocks.logId, '')

/** The last write of the oldest output block that has lines; null when there is none. */
export const getOldestTime = (logDb: LogDb) =>
  getRow(logDb, outputBlocks, and(isOutput, hasLines), asc(outputBlocks.lastTime))?.lastTime ?? null

/**
 * Removes output blocks whose last line is older. The newest block of each source stays, emptied, because
 * further lines are numbered after it.
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

export const listSources = (logDb: LogDb) => listValues(logDb, outputBlocks.sourceId)

/** The logs of an environment's deployments or a service's jobs, newest first. */
export const listJobLogs = (logDb: LogDb, sourceId: string): LogKey[] =>
  logDb
    .selectDistinct({ sourceId: outputBlocks.sourceId, logId: outputBlocks.logId })
    .from(outputBlocks)
    .where(and(eq(outputBlocks.sourceId, sourceId), ne(outputBlocks.logId, '')))
    .orderBy(desc(outputBlocks.logId))
    .all()

/** The log of the deployment or job with the next id; undefined at the end. */
export const getNextLog = (logDb: LogDb, logId: string): LogKey | undefined =>
  logDb
    .select({ sourceId: outputBlocks.sourceId, logId: outputBlocks.logId })
    .from(outputBlocks)
    .where(and(ne(outputBlocks.logId, ''), gt(outputBlocks.logId, logId)))
    .orderBy(asc(outputBlocks.logId))
    .limit(1)
    .get()

/** Blocks that are removed before other work may run. */
const atOnce = 50

/** Removes part of a log, or of all logs of an environment or service; false when there is no more. */
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
  return gone.length > 0
}

/** Removes all logs of an environment or service, the positions of its containers and drains, and its traffic. */
export async function removeLogsOf(logDb: LogDb, sourceId: string) {
  while (deleteSome(logDb, { sourceId })) await pause()
  logDb.delete(outputCursors).where(eq(outputCursors.sourceId, sourceId)).run()
  logDb.delete(drainCursors).where(eq(drainCursors.sourceId, sourceId)).run()
  logDb.delete(trafficSeries).where(eq(trafficSeries.sourceId, sourceId)).run()
}

/**
 * When a deployment's log began, and whether it is among the newest of its environment; undefined when there
 * is no such deployment.
 */
export function getAgeOfLog(db: Db, { id, newest }: { id: string; newest: number }) {
  const found = getRow(db, deployments, eq(deployments.id, id))
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
