import { and, asc, count, desc, eq, gt, like, max, sql } from 'drizzle-orm'
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

/** Returns a function that stores lines of one deployment in one transaction each, prepared once. */
export function prepareInsert(logDb: LogDb, deploymentId: string) {
  const insert = logDb
    .insert(deploymentLogs)
    .values({
      deploymentId,
      sequence: sql.placeholder('sequence'),
      time: sql.placeholder('time'),
      stream: sql.placeholder('stream'),
      text: sql.placeholder('text'),
    })
    .prepare()
  return (lines: LogLine[]) => logDb.transaction(() => lines.forEach((line) => insert.run(line)))
}

export const getLastSequence = (logDb: LogDb, deploymentId: string) =>
  logDb
    .select({ last: max(deploymentLogs.sequence) })
    .from(deploymentLogs)
    .where(eq(deploymentLogs.deploymentId, deploymentId))
    .get()?.last ?? 0

export const listLines = (
  logDb: LogDb,
  { deploymentId, after, limit }: { deploymentId: string; after: number; limit: number },
): LogLine[] =>
  logDb
    .select(columns)
    .from(deploymentLogs)
    .where(and(eq(deploymentLogs.deploymentId, deploymentId), gt(deploymentLogs.sequence, after)))
    .orderBy(asc(deploymentLogs.sequence))
    .limit(limit)
    .all()

/** The end of the log, in order. */
export const listLastLines = (
  logDb: LogDb,
  { deploymentId, limit }: { deploymentId: string; limit: number },
): LogLine[] =>
  logDb
    .select(columns)
    .from(deploymentLogs)
    .where(eq(deploymentLogs.deploymentId, deploymentId))
    .orderBy(desc(deploymentLogs.sequence))
    .limit(limit)
    .all()
    .reverse()

/** Lines that contain the text, whatever the case of its ASCII letters; one more than the limit. */
export const searchLines = (
  logDb: LogDb,
  options: { deploymentId: string; search: string; after: number; limit: number },
): LogLine[] =>
  logDb
    .select(columns)
    .from(deploymentLogs)
    .where(and(matching(options), gt(deploymentLogs.sequence, options.after)))
    .orderBy(asc(deploymentLogs.sequence))
    .limit(options.limit + 1)
    .all()

export const countMatches = (logDb: LogDb, options: { deploymentId: string; search: string }) =>
  logDb.select({ found: count() }).from(deploymentLogs).where(matching(options)).get()!.found

const matching = ({ deploymentId, search }: { deploymentId: string; search: string }) =>
  and(
    eq(deploymentLogs.deploymentId, deploymentId),
    sql`${like(deploymentLogs.text, `%${search.replace(/[\\%_]/g, '\\$&')}%`)} ESCAPE '\\'`,
  )
