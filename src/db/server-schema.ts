import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { createdAt, flag, id, time } from './columns.ts'

/** Empty with one server: that of Davit itself is stored when another one joins. */
export const servers = sqliteTable('servers', {
  id: id(),
  name: text().notNull().unique(),
  /** Where the other servers reach it. */
  address: text().notNull().unique(),
  roles: text({ mode: 'json' }).$type<ServerRole[]>().notNull().default(['apps']),
  labels: text({ mode: 'json' }).$type<Record<string, string>>().notNull().default({}),
  /** Nothing new is placed on it. */
  isDraining: flag().notNull().default(false),
  /** When it was seen last; null while it can be reached. */
  lastSeenAt: time(),
  /** Its id in the swarm. */
  nodeId: text().notNull(),
  engine: text().notNull(),
  cpus: integer().notNull(),
  memoryMb: integer().notNull(),
  /** `ssh://user@host:port`, and its host key in base64; null for Davit’s own server. */
  ssh: text(),
  hostKey: text(),
  /** The key of that login: sealed. */
  privateKey: text(),
  /** True when the swarm was begun for other servers: it ends with the last one. */
  hasBegunSwarm: flag().notNull().default(false),
  createdAt: createdAt(),
})

export type ServerRole = 'apps' | 'builds' | 'edge'
