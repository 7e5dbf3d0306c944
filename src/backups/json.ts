import { z } from 'zod'
import { jobLog, logLine } from '../logs/json.ts'
import { nextTimes } from '../platform/cron.ts'
import {
  componentOf,
  creates,
  does,
  id,
  jobFailure,
  listOf,
  lists,
  nothing,
  reads,
  shown,
  time,
  works,
} from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import type { Db } from '../db/index.ts'
import type { StoredContents, StoredRestore } from '../db/schema.ts'
import type { Progress } from './deps.ts'
import { backupSubjects, isBeingProven, isOverdue, runStatuses, volumeHolds } from './store.ts'
import type { Backup, Plan } from './store.ts'

const database = () =>
  z.object({
    name: z.string(),
    tables: z.array(z.object({ name: z.string(), rows: z.int() })),
    extensions: z.array(z.string()).optional(),
  })

export const backup = componentOf('Backup', () => ({
  id,
  /** Its name when the backup was made; it may have been deleted since. */
  subject: z.object({ kind: z.enum(backupSubjects), id: z.string(), name: z.string() }),
  targetId: id,
  status: z.enum(runStatuses),
  startedBy: z.string(),
  createdAt: time,
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  /** When its plan removed it from the target, or it was found missing there. */
  removedAt: time.nullable(),
  /** What was read, and what the target has more. */
  bytes: z.int().nullable(),
  addedBytes: z.int().nullable(),
  checksum: z.string().nullable(),
  rows: z.int().nullable(),
  /** Small ones share a restic snapshot; `volumes` has all that no dump stands for. */
  files: z.array(
    z.object({
      file: z.string(),
      snapshot: z.string(),
      bytes: z.int(),
      checksum: z.string().nullable(),
      volumes: z.array(z.string()).optional(),
    }),
  ),
  contents: z
    .array(
      z.object({
        component: z.string(),
        engine: z.string(),
        version: z.string(),
        databases: z.array(database()),
      }),
    )
    .nullable(),
  proven: z
    .object({ at: time, seconds: z.int(), rows: z.int().nullable(), error: z.string().nullable() })
    .nullable(),
  /** Why its last test restore couldn’t be made, which leaves `proven` as it was; null once one could. */
  untested: z.string().nullable(),
  /** The last one; `before` is the backup that was made of what it replaced. */
  restore: z
    .object({
      at: time,
      by: z.string(),
      status: z.enum(runStatuses),
      /** Null for what it is of. */
      into: z
        .object({
          kind: z.enum(['service', 'environment']),
          id,
          name: z.string(),
          created: z.boolean(),
        })
        .nullable(),
      /** As the preview has it; null for all that it has. */
      database: z.string().nullable(),
      before: id.nullable(),
      error: z.string().nullable(),
    })
    .nullable(),
  /** True while a test restore is queued or running. */
  proving: z.boolean(),
  /** While it runs; the total is null while it is unknown, as for a dump. */
  progress: z.object({ file: z.string(), bytes: z.int(), total: z.int().nullable() }).nullable(),
  error: jobFailure().nullable(),
}))

/** What a restore could do. */
export const restorePreview = componentOf('RestorePreview', () => ({
  /** What chooses one alone: its name, or component/name where several servers have one of that name. */
  databases: z.array(z.string()),
  volumes: z.array(z.string()),
  /** Whose data it would replace; null once it was deleted. */
  same: z.object({ id, name: z.string() }).nullable(),
  /** The service that it would create; null for an environment. */
  new: z
    .object({
      name: z.string(),
      /** Of the catalogue, or `compose`, and what that is called. */
      template: z.string(),
      title: z.string(),
      version: z.string(),
      /** False where the files of its volumes may need the stored ones. */
      newPasswords: z.boolean(),
      /** Volumes that an earlier version used: they come back, too, but nothing of it mounts them. */
      unmounted: z.array(z.string()),
    })
    .nullable(),
  /** Others whose data it could replace. */
  environments: z.array(z.object({ id, name: z.string() })),
  /** Where a new service may run. */
  servers: z.array(z.object({ id, name: z.string() })),
}))

export type Preview = z.output<ReturnType<typeof restorePreview>>

export const plan = componentOf('BackupPlan', () => ({
  targetId: id,
  ...{ schedule: z.string(), zone: z.string() },
  ...{ keepLast: z.int(), keepDaily: z.int(), keepWeekly: z.int(), keepMonthly: z.int() },
  prove: z.enum(['each', 'weekly', 'never']),
  /** SQLite files or folders that may be damaged without failing a test restore. */
  acceptDamaged: z.array(z.string()),
  hold: z.enum(volumeHolds),
  nextTimes: z.array(time),
  dueAt: time.nullable(),
  /** True when the last due time has brought no backup. */
  overdue: z.boolean(),
  problem: z.object({ reason: z.string(), message: z.string() }).nullable(),
}))

export function backupJson(
  { db, progress }: { db: Db; progress: Map<string, Progress> },
  row: Backup,
) {
  const { errorCode: code, errorMessage: message, errorHint: hint } = row
  const { provenAt: at, provenSeconds: seconds, provenRows: rows, provenError: error } = row
  return shown(backup, {
    ...row,
    removedAt: row.goneAt,
    contents: row.contents && row.contents.map(contentsJson),
    subject: { kind: row.subjectKind, id: row.subjectId, name: row.subjectName },
    proven: at && { at, seconds: seconds ?? 0, rows, error },
    restore: row.restore && restoreJson(row.restore),
    proving: isBeingProven(db, row.id),
    progress: progress.get(row.id) ?? null,
    error: code ? { step: null, code, message: message ?? '', hint } : null,
  })
}

const restoreJson = ({ into, replaced: _, ...restore }: StoredRestore) => ({
  ...restore,
  into: into && { kind: into.kind, id: into.id, name: into.name, created: into.isNew },
})

const contentsJson = ({ component, engine, version, databases }: StoredContents) => ({
  ...{ component, engine, version },
  databases: databases.map(({ name, tables, extensions }) => ({
    name,
    tables: tables.map(({ name, rows }) => ({ name, rows })),
    ...(extensions && { extensions }),
  })),
})

/** One that is off has no next times. */
export const planJson = (db: Db, row: Plan) =>
  shown(plan, {
    ...{ ...row, overdue: isOverdue(db, row) },
    nextTimes: row.nextAt ? nextTimes(row, { after: new Date(), count: 5 }) : [],
  })

export type ShownPlan = ReturnType<typeof planJson>

const ofSubject = (path: string, what: string): ReturnType<SliceOperations>[string] => ({
  [`GET ${path}`]: does(
    `List the backups of ${what}, newest first, with their plan`,
    listOf(backup()).extend({ plan: plan().nullable() }),
  ),
  [`POST ${path}`]: creates(`Back up ${what} now`, backup()),
  [`GET ${path}/plan`]: does(`Get when ${what} is backed up`, plan()),
  [`PUT ${path}/plan`]: does(
    `Plan the backups of ${what}; what is omitted stays, or has its default`,
    plan(),
  ),
  [`DELETE ${path}/plan`]: does(`Plan no more backups of ${what}; those there are stay`, nothing),
})

export const operations: SliceOperations = () => ({
  Backups: {
    'GET /backups': lists('List all your backups, also of what was deleted', backup()),
    ...ofSubject('/services/:id/backups', 'a service'),
    ...ofSubject('/envs/:envId/backups', 'an environment'),
    ...ofSubject('/settings/backups', 'Davit itself'),
    'GET /backups/:id': does('Get a backup', backup()),
    'GET /backups/:id/logs': reads('Read, search or follow its log', jobLog(), logLine()),
    'GET /backups/:id/download': {
      summary: 'Download a file of a backup, such as a dump; volumes are a tar archive',
      answers: {},
      texts: ['application/octet-stream'],
    },
    'POST /backups/:id/cancel': works(
      'Cancel a backup that hasn’t ended, its test restore or its restore',
      backup(),
    ),
    'POST /backups/:id/prove': does(
      'Restore a backup into a throw-away server without network, and compare it with what was stored',
      backup(),
    ),
    'GET /backups/:id/restore': does(
      'Preview what a restore would replace or create',
      restorePreview(),
    ),
    'POST /backups/:id/restore': {
      summary:
        'Replace the data of its service or environment by that of a backup, after a backup of today’s; or create a service with it. 201: a service was created, at `Location`',
      answers: { 200: backup(), 201: backup() },
    },
    'DELETE /backups/:id': works('Delete a backup from its target', nothing),
  },
})
