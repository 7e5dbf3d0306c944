import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Lines of deployments, in a database file of their own; `sequence` counts from 1 without gaps. */
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
