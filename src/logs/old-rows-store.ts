import { and, asc, desc, eq, gt, inArray, lt, max, min } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { Db, LogDb } from '../db/index.ts'
import { deploymentLogs, outputBlocks } from '../db/log-schema.ts'
import { deployments } from '../db/schema.ts'
import { lineRows, pack } from './block.ts'
import type { Block, LogKey } from './store.ts'

/*
 * Earlier versions stored each line of a deployment's log as a row. Such rows are read as blocks until they
 * are migrated, which happens while Davit runs, and continues after a kill.
 */

const { sequence } = deploymentLogs

/** The maximum of rows, and of characters, in one block. */
const blockSize = { rows: 1000, length: 64 * 1024 }

/** Returns rows after a sequence number as a block; undefined when there are none. */
export const getRowsAfter = (logDb: LogDb, { after, ...log }: LogKey & { after: number }) =>
  blockOf(logDb, log, { which: gt(sequence, after), order: asc(sequence) })

/** Returns rows before a sequence number as a block. */
export const getRowsBefore = (logDb: LogDb, { before, ...log }: LogKey & { before: number }) =>
  blockOf(logDb, log, { which: lt(sequence, before), order: desc(sequence) })

export const getRowExtent = (logDb: LogDb, { logId }: Pick<LogKey, 'logId'>) =>
  logDb
    .select({ first: min(sequence), last: max(sequence) })
    .from(deploymentLogs)
    .where(isOf(logId))
    .get()

/** Removes the oldest rows of a log; false when there are no more. */
export const deleteSomeRows = (logDb: LogDb, logId: string) =>
  logDb
    .delete(deploymentLogs)
    .where(
      and(
        isOf(logId),
        inArray(
          sequence,
          logDb
            .select({ sequence })
            .from(deploymentLogs)
            .where(isOf(logId))
            .orderBy(asc(sequence))
            .limit(blockSize.rows),
        ),
      ),
    )
    .returning({ sequence })
    .all().length > 0

/** Moves the first rows into a block, or removes those of a deleted deployment; false when there are none. */
export function moveSomeRows({ db, logDb }: { db: Db; logDb: LogDb }) {
  const logId = logDb.select({ id: deploymentLogs.deploymentId }).from(deploymentLogs).get()?.id
  if (logId === undefined) return false
  const sourceId = db
    .select({ id: deployments.environmentId })
    .from(deployments)
    .where(eq(deployments.id, logId))
    .get()?.id
  if (sourceId === undefined) return deleteSomeRows(logDb, logId)
  return logDb.transaction(() => {
    const { id: _, ...block } = getRowsAfter(logDb, { sourceId, logId, after: 0 })!
    logDb.insert(outputBlocks).values(block).run()
    const isMoved = and(isOf(logId), lt(sequence, block.last + 1))
    logDb.delete(deploymentLogs).where(isMoved).run()
    return true
  })
}

const isOf = (logId: string) => eq(deploymentLogs.deploymentId, logId)

type Row = typeof deploymentLogs.$inferSelect

/** Reads row by row, so that lines of 16 KiB take no more memory than short ones. */
function blockOf(
  logDb: LogDb,
  log: LogKey,
  { which, order }: { which: SQL; order: SQL },
): Block | undefined {
  if (log.logId === '') return
  const { sql, params } = logDb
    .select()
    .from(deploymentLogs)
    .where(and(isOf(log.logId), which))
    .orderBy(order)
    .limit(blockSize.rows)
    .toSQL()
  const rows: Row[] = []
  let length = 0
  for (const row of logDb.$client.query<Row, never[]>(sql).iterate(...(params as never[]))) {
    rows.push(row)
    length += row.text.length
    if (length >= blockSize.length) break
  }
  if (rows.length === 0) return
  rows.sort((a, b) => a.sequence - b.sequence)
  const times = rows.map(({ time }) => time)
  return {
    id: 0,
    ...log,
    first: rows[0]!.sequence,
    last: rows.at(-1)!.sequence,
    firstTime: Math.min(...times),
    lastTime: Math.max(...times),
    data: pack(lineRows(rows)),
  }
}
