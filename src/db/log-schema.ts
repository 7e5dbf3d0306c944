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
import { firstServer } from '../platform/root.ts'

/**
 * Log lines in blocks: the output of an environment's or service's containers, kept after their removal, and
 * the logs of its deployments and jobs. `data` is compressed.
 */
export const outputBlocks = sqliteTable(
  'output_blocks',
  {
    id: integer().primaryKey(),
    /** The id of the environment or service. */
    sourceId: text().notNull(),
    /** Sequence numbers of the first and last line, counted from 1 without gaps in each log. */
    first: integer().notNull(),
    last: integer().notNull(),
    /** Milliseconds since 1970. */
    firstTime: integer().notNull(),
    lastTime: integer().notNull(),
    data: blob({ mode: 'buffer' }).notNull(),
    /** The id of the deployment or job; empty for output of containers. */
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

/** The position up to which each container's output has been read. */
export const outputCursors = sqliteTable('output_cursors', {
  containerId: text().primaryKey(),
  /** The server whose Docker has it. */
  serverId: text().notNull().default(firstServer),
  sourceId: text().notNull(),
  deploymentId: text().notNull(),
  /** The container's name, for the marks in the log. */
  name: text().notNull(),
  /** Timestamp of the last line read, with nanoseconds as the engine writes it; null before the first. */
  timestamp: text(),
  /** Number of lines with exactly that timestamp and stream that have been read. */
  ordinal: integer().notNull().default(0),
  stream: text({ enum: ['stdout', 'stderr'] }),
  /** Milliseconds since 1970, set when the container had ended and all its output was read. */
  endedAt: integer(),
})

/** Average usage of a container over a span of time. */
export const samples = sqliteTable(
  'samples',
  {
    containerId: text().notNull(),
    /** Seconds that the sample covers: 10, and more once downsampled. */
    span: integer().notNull(),
    /** End of the span, in seconds since 1970. */
    time: integer().notNull(),
    /** Percent of one processor. */
    cpu: real().notNull(),
    /** In bytes. */
    memory: integer().notNull(),
    /** In bytes per second. */
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

/** Requests served by the edge for an environment or service, by host, host with a path, or port. */
export const trafficSeries = sqliteTable(
  'traffic_series',
  {
    id: integer().primaryKey(),
    /** The id of the environment or service. */
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
    /** Seconds: 60, or 3600 in older rows. */
    span: integer().notNull(),
    /** End of the span, in seconds since 1970. */
    time: integer().notNull(),
    requests: integer().notNull(),
    /** By the first digit of the status; requests aborted before a response have none. */
    status1: integer().notNull(),
    status2: integer().notNull(),
    status3: integer().notNull(),
    status4: integer().notNull(),
    status5: integer().notNull(),
    /** Bytes of the bodies. */
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

/** The position up to which the edge's access log has been read: one row. */
export const accessCursor = sqliteTable('access_cursor', {
  id: integer().primaryKey(),
  inode: text().notNull(),
  /** Bytes that have been read. */
  offset: integer().notNull(),
  /** Hash of the file's first bytes: another file can reuse the inode of a deleted one. */
  head: text().notNull(),
})

/** How far each drain has sent the log of its environment. */
export const drainCursors = sqliteTable('drain_cursors', {
  drainId: text().primaryKey(),
  sourceId: text().notNull(),
  /** The last line that was sent, or given up. */
  sequence: integer().notNull(),
  sent: integer().notNull().default(0),
  dropped: integer().notNull().default(0),
  /** Dropped lines of which the log doesn't say it yet. */
  unsaid: integer().notNull().default(0),
  /** Milliseconds since 1970. */
  sentAt: integer(),
  /** Of the last attempt; null when it succeeded. */
  error: text(),
  hint: text(),
  failedAt: integer(),
})
