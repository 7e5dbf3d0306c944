import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { owner } from './account-schema.ts'
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

export const serverRoles = ['apps', 'builds', 'edge'] as const

export type ServerRole = (typeof serverRoles)[number]

/** For servers that are expected to join by a command, with what an admin chose for them. */
export const joinCodes = sqliteTable('join_codes', {
  id: id(),
  codeHash: text().notNull().unique(),
  name: text().notNull(),
  /** Null for the one by which the server reaches Davit’s. */
  address: text(),
  roles: text({ mode: 'json' }).$type<ServerRole[]>().notNull(),
  labels: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
  /** The key by which Davit is to reach it; the private one is sealed, the other is sent there. */
  privateKey: text().notNull(),
  publicKey: text().notNull(),
  createdBy: owner(),
  createdAt: createdAt(),
  expiresAt: time().notNull(),
  /** When the server was stored that joined by it. */
  usedAt: time(),
})
