import { and, asc, eq, gt, inArray, lte, min, notInArray, sql } from 'drizzle-orm'
import type { LogDb } from '../db/index.ts'
import { accessCursor, traffic, trafficSeries } from '../db/log-schema.ts'
import { getRow, listValues, overwriting, placeholders, preparedOnce } from '../db/queries.ts'
import type { AccessPosition } from '../edge/access-tail.ts'

type Row = typeof traffic.$inferSelect

/** The traffic of one host in a span of time. */
export type Served = Omit<Row, 'seriesId' | 'span' | 'time'>

/** Identifies a row: a host of an environment or service, and a time. */
export type TrafficKey = { sourceId: string; key: string } & Pick<Row, 'span' | 'time'>

/** Seconds that a row covers: as counted, and downsampled. One of a watched version has the time of its switch. */
export const spans = { minute: 60, hour: 3600, watch: 1 }

/** The row of all requests since counting began, on all hosts: it only grows. */
export const ever = { key: '', span: 0, time: 0 }

/** Seconds that rows of a span are stored: a little longer than they are shown. */
const kept = [
  { span: spans.minute, seconds: 25 * 3600 },
  { span: spans.hour, seconds: 8 * 86_400 },
  { span: spans.watch, seconds: 25 * 3600 },
]

/** Seconds of rows that are removed at a time, which limits the damage of a wrong clock. */
const atOnce = 7200

const value = sql.placeholder

/** The queries that run for each batch of lines and host. */
const prepared = preparedOnce((logDb: LogDb) => {
  const { sourceId, key } = trafficSeries
  const { seriesId, span, time } = traffic
  return {
    series: logDb
      .insert(trafficSeries)
      .values({ sourceId: value('sourceId'), key: value('key') })
      .onConflictDoUpdate({ target: [sourceId, key], set: { key: sql`excluded.key` } })
      .returning({ id: trafficSeries.id })
      .prepare(),
    row: logDb
      .select()
      .from(traffic)
      .where(and(eq(seriesId, value('seriesId')), eq(span, value('span')), eq(time, value('time'))))
      .prepare(),
    save: logDb
      .insert(traffic)
      .values(placeholders(traffic))
      .onConflictDoUpdate(overwriting(traffic, seriesId, span, time))
      .prepare(),
  }
})

/** Updates the traffic of a span, starting from zero. */
export function changeServed(
  logDb: LogDb,
  { sourceId, key, span, time }: TrafficKey,
  change: (before: Served | undefined) => Served,
) {
  const { series, row, save } = prepared(logDb)
  const { id: seriesId } = series.get({ sourceId, key })
  save.run({ seriesId, span, time, ...change(row.get({ seriesId, span, time })) })
}

/** The traffic of an environment or service, or of one of its hosts, oldest first. */
export const listServed = (
  logDb: LogDb,
  query: Pick<TrafficKey, 'sourceId' | 'span'> & { key?: string; after: number; until: number },
) =>
  logDb
    .select({ key: trafficSeries.key, served: traffic })
    .from(traffic)
    .innerJoin(trafficSeries, eq(trafficSeries.id, traffic.seriesId))
    .where(
      and(
        eq(trafficSeries.sourceId, query.sourceId),
        query.key === undefined ? undefined : eq(trafficSeries.key, query.key),
        eq(traffic.span, query.span),
        gt(traffic.time, query.after),
        lte(traffic.time, query.until),
      ),
    )
    .orderBy(asc(traffic.time))
    .all()

/** Requests and failed requests since a time, by environment or service and by host. */
export const sumServed = (
  logDb: LogDb,
  { sourceIds, after }: { sourceIds: string[]; after: number },
) =>
  logDb
    .select({
      sourceId: trafficSeries.sourceId,
      key: trafficSeries.key,
      requests: sql<number>`sum(${traffic.requests})`,
      failed: sql<number>`sum(${traffic.status5})`,
    })
    .from(trafficSeries)
    .innerJoin(traffic, eq(traffic.seriesId, trafficSeries.id))
    .where(
      and(
        inArray(trafficSeries.sourceId, sourceIds),
        eq(traffic.span, spans.minute),
        gt(traffic.time, after),
      ),
    )
    .groupBy(trafficSeries.id)
    .all()

/** All requests of these environments and services since counting began. */
export const listEver = (logDb: LogDb, sourceIds: string[]) =>
  logDb
    .select({ sourceId: trafficSeries.sourceId, served: traffic })
    .from(trafficSeries)
    .innerJoin(traffic, eq(traffic.seriesId, trafficSeries.id))
    .where(and(inArray(trafficSeries.sourceId, sourceIds), eq(traffic.span, ever.span)))
    .all()

/** The end of the first row, in seconds since 1970; null without rows. */
export const getFirstTime = (logDb: LogDb, sourceId: string, span: number) =>
  logDb
    .select({ time: min(traffic.time) })
    .from(traffic)
    .innerJoin(trafficSeries, eq(trafficSeries.id, traffic.seriesId))
    .where(and(eq(trafficSeries.sourceId, sourceId), eq(traffic.span, span)))
    .get()?.time ?? null

export function deleteOld(logDb: LogDb, now: number) {
  for (const { span, seconds } of kept) {
    const oldest = getRow(logDb, traffic, eq(traffic.span, span), asc(traffic.time))
    if (!oldest) continue
    const until = Math.min(now - seconds, oldest.time + atOnce)
    logDb
      .delete(traffic)
      .where(and(eq(traffic.span, span), lte(traffic.time, until)))
      .run()
  }
  const used = logDb.selectDistinct({ id: traffic.seriesId }).from(traffic)
  logDb.delete(trafficSeries).where(notInArray(trafficSeries.id, used)).run()
}

export const listSources = (logDb: LogDb) => listValues(logDb, trafficSeries.sourceId)

export const deleteOf = (logDb: LogDb, sourceIds: string[]) =>
  logDb.delete(trafficSeries).where(inArray(trafficSeries.sourceId, sourceIds)).run()

export function getPosition(logDb: LogDb): AccessPosition | null {
  const { id: _, ...position } = logDb.select().from(accessCursor).get() ?? { id: null }
  return 'inode' in position ? position : null
}

export const savePosition = (logDb: LogDb, position: AccessPosition) =>
  logDb
    .insert(accessCursor)
    .values({ id: 1, ...position })
    .onConflictDoUpdate({ target: accessCursor.id, set: position })
    .run()
