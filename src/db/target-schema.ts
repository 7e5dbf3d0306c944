import { sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { owner } from './account-schema.ts'
import { createdAt, id } from './columns.ts'

export const targetKinds = ['s3', 'sftp', 'rest', 'directory'] as const

/** Where backups are stored: a restic repository each. Which columns have a value depends on the kind. */
export const targets = sqliteTable(
  'targets',
  {
    id: id(),
    ownerId: owner(),
    name: text().notNull(),
    kind: text({ enum: targetKinds }).notNull(),
    endpoint: text(),
    bucket: text(),
    region: text(),
    accessKey: text(),
    /** Sealed. */
    secretKey: text(),
    /** With its port, if it has another one. */
    host: text(),
    /** The host's own key, as it was first shown: only that is accepted from then on. */
    hostKey: text(),
    user: text(),
    /** The sealed private key of OpenSSH that the user logs in with. */
    key: text(),
    path: text(),
    url: text(),
    /** The sealed password of `user`. */
    userPassword: text(),
    /** The sealed key of the repository: without it no one can read what is stored. */
    password: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('target_name_per_owner').on(t.ownerId, t.name)],
)
