import { sql } from 'drizzle-orm'
import {
  blob,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'

/** Lines of deployments as earlier versions stored them, until they have been moved into blocks. */
export const deploymentLogs = sqliteTable(
  'deployment_logs',
  {
    deploymentId: text().notNull(),
    sequence: integer().notNull(),
    /** Milliseconds since 1970. */
    time: integer().notNull(),
    stream: text({ enum: ['system', 'stdout', 'stderr'] }).notNull(),
    text: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.deploymentId, t.sequence] })],
)

/**
 * Lines of logs, many to a block: what the containers of an environment or service wrote, kept beyond
 * their life, and what its deployments and jobs did. `data` is compressed.
 */
export const outputBlocks = sqliteTable(
  'output_blocks',
  {
    id: integer().primaryKey(),
    /** Of the environment or service. */
    sourceId: text().notNull(),
    /** Sequences of the first and the last line, which count from 1 without gaps in each log. */
    first: integer().notNull(),
    last: integer().notNull(),
    /** Milliseconds since 1970. */
    firstTime: integer().notNull(),
    lastTime: integer().notNull(),
    data: blob({ mode: 'buffer' }).notNull(),
    /** Of the deployment or job; empty for what containers wrote. */
    logId: text().notNull().default(''),
  },
  (t) => [
    index('output_blocks_by_log').on(t.sourceId, t.logId, t.first),
    index('output_blocks_by_time').on(t.lastTime),
    index('output_blocks_by_job')
      .on(t.logId)
      .where(sql`log_id <> ''`),
  ],
)

/** How far the output of each container has been read. */
export const outputCursors = sqliteTable('output_cursors', {
  containerId: text().primaryKey(),
  sourceId: text().notNull(),
  deploymentId: text().notNull(),
  /** Name of the container, for the marks. */
  name: text().notNull(),
  /** Of the last line read, to the nanosecond as the engine writes it; null before the first. */
  timestamp: text(),
  /** How many lines with exactly that timestamp and stream have been read. */
  ordinal: integer().notNull().default(0),
  stream: text({ enum: ['stdout', 'stderr'] }),
  /** Milliseconds since 1970, when the container had ended and all of it was read. */
  endedAt: integer(),
})

/** Use of resources by a container over a span of time, averaged. */
export const samples = sqliteTable(
  'samples',
  {
    containerId: text().notNull(),
    /** Seconds that the sample covers: 10, and more once downsampled. */
    span: integer().notNull(),
    /** Seconds since 1970, of the end of the span. */
    time: integer().notNull(),
    /** Per cent of one processor. */
    cpu: real().notNull(),
    /** Bytes. */
    memory: integer().notNull(),
    /** Bytes per second. */
    received: real().notNull(),
    sent: real().notNull(),
    read: real().notNull(),
    written: real().notNull(),
    pids: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.containerId, t.span, t.time] }),
    index('samples_by_time').on(t.span, t.time),
  ],
)

/** What the edge served for an environment or service: a series for each host, host with a path, or port. */
export const trafficSeries = sqliteTable(
  'traffic_series',
  {
    id: integer().primaryKey(),
    /** Of the environment or service. */
    sourceId: text().notNull(),
    key: text().notNull(),
  },
  (t) => [uniqueIndex('traffic_series_by_source').on(t.sourceId, t.key)],
)

/** The requests that ended in a span of time. */
export const traffic = sqliteTable(
  'traffic',
  {
    seriesId: integer()
      .notNull()
      .references(() => trafficSeries.id, { onDelete: 'cascade' }),
    /** Seconds: 60, and 3600 for longer. */
    span: integer().notNull(),
    /** Seconds since 1970, of the end of the span. */
    time: integer().notNull(),
    requests: integer().notNull(),
    /** By the first digit of their status; requests that broke off before a response have none. */
    status1: integer().notNull(),
    status2: integer().notNull(),
    status3: integer().notNull(),
    status4: integer().notNull(),
    status5: integer().notNull(),
    /** Bytes of bodies. */
    received: integer().notNull(),
    sent: integer().notNull(),
    /** Histogram of their durations. */
    durations: blob({ mode: 'buffer' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.seriesId, t.span, t.time] }),
    index('traffic_by_time').on(t.span, t.time),
  ],
)

/** How far the edge's access log has been read: one row. */
export const accessCursor = sqliteTable('access_cursor', {
  id: integer().primaryKey(),
  /** Of the file, as the file system has it. */
  inode: text().notNull(),
  /** Bytes that have been read. */
  offset: integer().notNull(),
  /** Hash of the first of them: another file can reuse the inode of a deleted one. */
  head: text().notNull(),
})
