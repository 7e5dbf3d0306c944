import { integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { childOf, createdAt, flag, id } from './columns.ts'
import { environments } from './project-schema.ts'

export const drainKinds = ['syslog', 'loki', 'otlp', 's3'] as const

/** Where the log of an environment is sent, too. How far it has been sent is in the log database. */
export const drains = sqliteTable(
  'drains',
  {
    id: id(),
    environmentId: childOf(() => environments.id),
    name: text().notNull(),
    kind: text({ enum: drainKinds }).notNull(),
    /** Also the lines of requests that Caddy served. */
    requests: flag().notNull().default(true),
    host: text(),
    port: integer(),
    tls: flag(),
    /** Also the traces of deployments, of a kind that takes them. */
    traces: flag().notNull().default(false),
    url: text(),
    username: text(),
    /** Sealed. */
    password: text(),
    /** Sealed, since they may have keys: a line for each. */
    headers: text(),
    endpoint: text(),
    bucket: text(),
    region: text(),
    prefix: text(),
    accessKey: text(),
    /** Sealed. */
    secretKey: text(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('drain_name_per_environment').on(t.environmentId, t.name)],
)
