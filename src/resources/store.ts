import { and, eq } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from '../db/index.ts'
import { deleteFound, getRow, listPage } from '../db/queries.ts'
import type { Page } from '../web/paging.ts'

export type ResourceTable = SQLiteTable & { id: SQLiteColumn }

/** Without an owner, the rows are visible to all who may see the resource. */
type Rows<Table> = { table: Table; owner?: SQLiteColumn; where?: () => SQL | undefined }

const visibleTo = (userId: string, { owner, where }: Rows<unknown>) =>
  and(owner && eq(owner, userId), where?.())

export const getVisible = <Table extends ResourceTable>(
  db: Db,
  rows: Rows<Table>,
  { id, userId }: { id: string; userId: string },
) => getRow(db, rows.table, and(eq(rows.table.id, id), visibleTo(userId, rows)))

/** Newest first, with one more row than the page, which shows that more follow. */
export const listVisible = <Table extends ResourceTable>(
  db: Db,
  rows: Rows<Table>,
  { userId, ...page }: Page & { userId: string },
) => listPage(db, rows.table, visibleTo(userId, rows), page)

export const deleteRow = (db: Db, table: ResourceTable, id: string, noun: string) =>
  deleteFound(db, table, eq(table.id, id), noun)
