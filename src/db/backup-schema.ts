import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { owner } from './account-schema.ts'
import { createdAt, id, time } from './columns.ts'
import { runStatuses } from './job-schema.ts'
import { environments } from './project-schema.ts'
import { services } from './service-schema.ts'

/** What is backed up; `davit` is this installation itself. */
export const backupSubjects = ['service', 'environment', 'davit'] as const

/** What happens to the containers of volumes while those are copied. */
export const volumeHolds = ['pause', 'stop', 'none'] as const

const subjectKind = () => text({ enum: backupSubjects }).notNull()

/** At which times a subject is backed up, to where, and what is kept of it. */
export const backupPlans = sqliteTable('backup_plans', {
  id: id(),
  ownerId: owner(),
  subjectKind: subjectKind(),
  /** The id of the service or environment, or `davit`. */
  subjectId: text().notNull().unique(),
  /** One of the two repeats the id, so that the row is deleted with it. */
  environmentId: text().references(() => environments.id, { onDelete: 'cascade' }),
  serviceId: text().references(() => services.id, { onDelete: 'cascade' }),
  targetId: text().notNull(),
  /** A cron expression, in the time of an IANA zone. */
  schedule: text().notNull(),
  zone: text().notNull().default('UTC'),
  /** How many stay: the last ones, and the last one of each of so many days, weeks and months. */
  keepLast: integer().notNull().default(0),
  keepDaily: integer().notNull().default(0),
  keepWeekly: integer().notNull().default(0),
  keepMonthly: integer().notNull().default(0),
  prove: text({ enum: ['each', 'weekly', 'never'] })
    .notNull()
    .default('weekly'),
  /** SQLite files, or folders of them, that a proof may find damaged. */
  acceptDamaged: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  hold: text({ enum: volumeHolds }).notNull().default('pause'),
  /** Null while it is off: in the copy of a rehearsed move, or as the data didn’t come back with the server. */
  nextAt: time(),
  /** The last time that was due, and why no backup began then; null when one did. */
  dueAt: time(),
  problem: text({ mode: 'json' }).$type<PlanProblem>(),
  createdAt: createdAt(),
})

export type PlanProblem = {
  reason: 'overlap' | 'owner_disabled' | 'target_missing' | 'retention_failed' | 'not_restored'
  message: string
}

/** A file of a backup and the restic snapshot that has it; volumes are in one snapshot. */
export type StoredFile = {
  file: string
  snapshot: string
  bytes: number
  /** Of the file, SHA-256; null for volumes. */
  checksum: string | null
  /** The volumes in it, for a snapshot of volumes. */
  volumes?: string[]
}

/** What the dump of a component’s databases had. */
export type StoredContents = {
  component: string
  engine: string
  version: string
  databases: {
    name: string
    file: string
    /** `fewest` is for rows that expire by themselves. */
    tables: { name: string; rows: number; fewest?: number }[]
    /** True when the rows were counted outside of the snapshot. */
    isInexact?: boolean
    extensions?: string[]
    /** Statements that create it, with `%1$I` for its name. */
    create?: string[]
  }[]
  /** The users of the server. Those that exist when it is loaded stay as they are. */
  roles?: { file: string; names: string[] }
}

/** A container that a backup has paused or stopped, and how it was before. */
export type HeldContainer = {
  id: string
  name: string
  policy:
    { name: 'no' | 'always' | 'unless-stopped' } | { name: 'on-failure'; maximumRetries: number }
  wasUp: boolean
  serverId: string
  by: 'pause' | 'stop'
}

/** The last restore of a backup. */
export type StoredRestore = {
  at: string
  /** The user's e-mail address. */
  by: string
  status: 'pending' | 'running' | 'succeeded' | 'failed' | 'cancelled'
  /** Null for what it is of. A new service is removed unless it is restored. */
  into: { kind: 'service' | 'environment'; id: string; name: string; isNew: boolean } | null
  /** Its name, behind that of its component where it isn’t the only one of that name; null for all that it has. */
  database: string | null
  /** The backup that was made before, of what was replaced. */
  before: string | null
  /** What of it isn’t as it was by now. */
  replaced?: StoredReplaced
  error: string | null
}

/** Each continues “It replaced”. */
export type StoredReplaced = { whole: string[]; part: string[] }

/** They outlive their subject. */
export const backups = sqliteTable(
  'backups',
  {
    id: id(), // the same as its job's
    ownerId: owner(),
    subjectKind: subjectKind(),
    subjectId: text().notNull(),
    /** Its name when the backup was made. */
    subjectName: text().notNull(),
    targetId: text().notNull(),
    /** The user's e-mail address, or another cause. */
    startedBy: text().notNull(),
    hold: text({ enum: volumeHolds }).notNull(),
    status: text({ enum: runStatuses }).notNull().default('pending'),
    errorCode: text(),
    errorMessage: text(),
    errorHint: text(),
    /** In bytes: of what was read, and of what the target has more. */
    bytes: integer(),
    addedBytes: integer(),
    files: text({ mode: 'json' }).$type<StoredFile[]>().notNull().default([]),
    /** Databases with their tables and rows, as they were in the dump. */
    contents: text({ mode: 'json' }).$type<StoredContents[]>(),
    rows: integer(),
    /** Of a service: its file, version and values, sealed. */
    definition: text(),
    /** SHA-256 over the names and checksums of its files; null until it succeeded. */
    checksum: text(),
    /** Containers that are paused or stopped for it now. */
    held: text({ mode: 'json' }).$type<HeldContainer[]>(),
    provenAt: time(),
    provenSeconds: integer(),
    provenRows: integer(),
    provenError: text(),
    /** Why the last test restore couldn’t be made, which says nothing about the data. */
    untested: text(),
    restore: text({ mode: 'json' }).$type<StoredRestore>(),
    /** When retention or a user removed it from the target; the row stays for a while. */
    goneAt: time(),
    createdAt: createdAt(),
    startedAt: time(),
    finishedAt: time(),
  },
  (t) => [
    index('backups_by_subject').on(t.subjectId, t.id),
    index('backups_by_owner').on(t.ownerId, t.id),
    index('backups_by_status').on(t.status),
  ],
)
