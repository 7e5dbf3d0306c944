import { and, asc, count, desc, eq, gt, max, sql } from 'drizzle-orm'
import type { LogDb } from '../db/index.ts'
import { deploymentLogs } from '../db/log-schema.ts'

export type LogLine = Omit<typeof deploymentLogs.$inferSelect, 'deploymentId'>
export type Stream = LogLine['stream']

const columns = {
  sequence: deploymentLogs.sequence,
  time: deploymentLogs.time,
  stream: deploymentLogs.stream,
  text: deploymentLogs.text,
}

/** Rows of one statement: one at a time costs twice as much, and more are no faster. */
const rowsAtOnce = 25

/** Returns a function that stores lines of one deployment in one transaction each, prepared once. */
export function prepareInsert(logDb: LogDb, deploymentId: string) {
  const [one, many] = [1, rowsAtOnce].map((rows) =>
    logDb.$client.prepare<unknown, (string | number)[]>(
      `INSERT INTO deployment_logs (deployment_id, sequence, time, stream, text)
       VALUES ${Array(rows).fill('(?, ?, ?, ?, ?)').join(', ')}`,
    ),
  )
  return (lines: LogLine[]) =>
    logDb.transaction(() => {
      for (let at = 0; at < lines.length;) {
        const rows = lines.length - at < rowsAtOnce ? 1 : rowsAtOnce
        const values: (string | number)[] = []
        for (const { sequence, time, stream, text } of lines.slice(at, at + rows))
          values.push(deploymentId, sequence, time, stream, text)
        const insert = rows === 1 ? one! : many!
        insert.run(...values)
        at += rows
      }
    })
}

export const getLastSequence = (logDb: LogDb, deploymentId: string) =>
  logDb
    .select({ last: max(deploymentLogs.sequence) })
    .from(deploymentLogs)
    .where(eq(deploymentLogs.deploymentId, deploymentId))
    .get()?.last ?? 0

/** What a log takes. */
export type LogUse = { lines: number; bytes: number }

/** Reads all of it: for a log that is written on after a restart. */
export const getLogUse = (logDb: LogDb, deploymentId: string): LogUse =>
  logDb
    .select({
      lines: count(),
      bytes: sql<number>`coalesce(sum(octet_length(${deploymentLogs.text})), 0)`,
    })
    .from(deploymentLogs)
    .where(eq(deploymentLogs.deploymentId, deploymentId))
    .get()!

/** Lines wanted: so many at most, and none that begins after so many characters. */
type Wanted = { deploymentId: string; after: number; limit: number; maxLength?: number }

export const listLines = (logDb: LogDb, { deploymentId, after, limit, maxLength }: Wanted) =>
  upTo(
    logDb,
    maxLength,
    logDb
      .select(columns)
      .from(deploymentLogs)
      .where(and(eq(deploymentLogs.deploymentId, deploymentId), gt(deploymentLogs.sequence, after)))
      .orderBy(asc(deploymentLogs.sequence))
      .limit(limit),
  )

/** The end of the log, in order. */
export const listLastLines = (
  logDb: LogDb,
  { deploymentId, limit, maxLength }: Omit<Wanted, 'after'>,
): LogLine[] =>
  upTo(
    logDb,
    maxLength,
    logDb
      .select(columns)
      .from(deploymentLogs)
      .where(eq(deploymentLogs.deploymentId, deploymentId))
      .orderBy(desc(deploymentLogs.sequence))
      .limit(limit),
  ).reverse()

/** The id of the deployment with a log that comes after that one; null at the end. */
export const nextLogged = (logDb: LogDb, deploymentId: string) =>
  logDb
    .select({ id: deploymentLogs.deploymentId })
    .from(deploymentLogs)
    .where(gt(deploymentLogs.deploymentId, deploymentId))
    .orderBy(asc(deploymentLogs.deploymentId))
    .limit(1)
    .get()?.id ?? null

/** Row by row, so that lines of 16 KiB fill the memory no more than short ones. */
function upTo(
  logDb: LogDb,
  maxLength = Infinity,
  query: { toSQL: () => { sql: string; params: unknown[] } },
) {
  const { sql, params } = query.toSQL()
  const lines: LogLine[] = []
  let length = 0
  for (const line of logDb.$client.query<LogLine, never[]>(sql).iterate(...(params as never[]))) {
    lines.push(line)
    length += line.text.length
    if (length >= maxLength) break
  }
  return lines
}
