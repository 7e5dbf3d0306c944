import { and, asc, desc, eq, gt, inArray, isNotNull, lte, ne, sql } from 'drizzle-orm'
import type { Db, LogDb } from '../../db/index.ts'
import { getRow, listRows, overwriting } from '../../db/queries.ts'
import { samples } from '../../db/log-schema.ts'
import { instances } from '../../db/schema.ts'

type Row = typeof samples.$inferSelect

/** Average usage over the span that ended at `time`. */
export type Sample = Omit<Row, 'containerId' | 'span'>
export type ContainerSample = Omit<Row, 'span'>

/** The seconds of one sample: as measured, and averaged to be kept longer. */
export const spans = { fine: 10, minute: 60, coarse: 600 }

/** The seconds for which samples are kept: a little longer than they are shown. */
const kept = [
  { span: spans.fine, seconds: 70 * 60 },
  { span: spans.minute, seconds: 25 * 3600 },
  { span: spans.coarse, seconds: 7 * 86_400 + 3600 },
]

/** A time that repeats because the clock was set back is overwritten. */
export function insertSamples(logDb: LogDb, taken: ContainerSample[]) {
  if (taken.length === 0) return
  const rows = taken.map((sample) => ({ ...sample, span: spans.fine }))
  logDb.insert(samples).values(rows).onConflictDoUpdate(overwrite).run()
}

/** Averages the samples of every longer span that ended within that time; gaps don't count. */
export function averageSamples(logDb: LogDb, { after, until }: { after: number; until: number }) {
  for (const span of [spans.minute, spans.coarse]) {
    const [first, last] = [endOfSpan(after, span), endOfSpan(until, span)]
    if (first < last) averageOver(logDb, { span, after: first, until: last })
  }
}

const endOfSpan = (time: number, span: number) => Math.floor(time / span) * span

function averageOver(
  logDb: LogDb,
  { span, after, until }: { span: number; after: number; until: number },
) {
  const end = sql`(${samples.time} + ${sql.raw(`${span - 1}`)}) / ${sql.raw(`${span} * ${span}`)}`
  const averages = logDb
    .select({
      containerId: samples.containerId,
      span: sql`${span}`.as('span'),
      time: sql`${end}`.as('time'),
      cpu: sql`avg(${samples.cpu})`.as('cpu'),
      memory: sql`cast(round(avg(${samples.memory})) as integer)`.as('memory'),
      received: sql`avg(${samples.received})`.as('received'),
      sent: sql`avg(${samples.sent})`.as('sent'),
      read: sql`avg(${samples.read})`.as('read'),
      written: sql`avg(${samples.written})`.as('written'),
      pids: sql`cast(round(avg(${samples.pids})) as integer)`.as('pids'),
    })
    .from(samples)
    .where(and(eq(samples.span, spans.fine), gt(samples.time, after), lte(samples.time, until)))
    .groupBy(samples.containerId, end)
  logDb.insert(samples).select(averages).onConflictDoUpdate(overwrite).run()
}

const overwrite = overwriting(samples, samples.containerId, samples.span, samples.time)

export function deleteOldSamples(logDb: LogDb, now: number) {
  for (const { span, seconds } of kept)
    logDb
      .delete(samples)
      .where(and(eq(samples.span, span), lte(samples.time, now - seconds)))
      .run()
}

/** In bytes; null when the container has no sample. */
export const getLastMemory = (logDb: LogDb, containerId: string) =>
  getRow(logDb, samples, eq(samples.containerId, containerId), desc(samples.time))?.memory ?? null

export function getLastSampleTime(logDb: LogDb, containerId: string) {
  const isFine = and(eq(samples.containerId, containerId), eq(samples.span, spans.fine))
  return getRow(logDb, samples, isFine, desc(samples.time))?.time ?? null
}

type SampleQuery = Pick<Row, 'span'> & { containerIds: string[]; after: number; until: number }

/** Oldest first. */
export function listSamples(logDb: LogDb, { containerIds, span, after, until }: SampleQuery) {
  const { containerId, time } = samples
  const isOf = and(inArray(containerId, containerIds), eq(samples.span, span))
  return listRows(logDb, samples, and(isOf, gt(time, after), lte(time, until)), asc(time))
}

/** The newest containers of an environment or service with their processes, including removed ones. */
export const listContainers = (db: Db, workloadId: string, limit: number) =>
  db
    .select({
      containerId: sql<string>`${instances.containerId}`,
      process: instances.component,
      isRemoved: sql<boolean>`${instances.state} = 'removed'`.mapWith(Boolean),
    })
    .from(instances)
    .where(
      and(
        eq(instances.workloadId, workloadId),
        isNotNull(instances.containerId),
        ne(instances.state, 'once'),
      ),
    )
    .orderBy(desc(instances.id))
    .limit(limit)
    .all()
