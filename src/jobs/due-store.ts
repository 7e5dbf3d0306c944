import { eq, isNotNull, lte, min } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { changeRow, getRow, listRows, listValues } from '../db/queries.ts'
import type { backupPlans, schedules } from '../db/schema.ts'

/** A table whose rows are due at times of a cron expression. */
export type Table = typeof schedules | typeof backupPlans
export type Row<Of extends Table> = Of['$inferSelect']

/** In milliseconds; null when nothing is planned. */
export const firstDue = (db: Db, table: Table) =>
  db
    .select({ at: min(table.nextAt) })
    .from(table)
    .get()
    ?.at?.getTime() ?? null

export const listDue = (db: Db, table: Table, now: Date) =>
  listValues(db, table.id, lte(table.nextAt, now))

export const listPlanned = (db: Db, table: Table) =>
  listRows<Table>(db, table, isNotNull(table.nextAt))

export const getTimed = <Of extends Table>(db: Db, table: Of, id: string): Row<Of> | undefined =>
  getRow<Of>(db, table, eq((table as Table).id, id))

type Changes = Partial<Pick<Row<Table>, 'nextAt' | 'dueAt' | 'problem'>>

export const setTimed = (db: Db, table: Table, id: string, changes: Changes) =>
  changeRow<Table>(db, table, id, changes as Partial<Row<Table>>)
