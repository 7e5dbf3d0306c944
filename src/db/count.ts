import { count } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from './index.ts'

/** How many rows of a table there are of that kind. */
export const countRows = (db: Pick<Db, 'select'>, table: SQLiteTable, where: SQL | undefined) =>
  db.select({ rows: count() }).from(table).where(where).get()!.rows
