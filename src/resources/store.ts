import { and, eq } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from '../db/index.ts'
import { deleteFound, getRow, listPage } from '../db/queries.ts'
import type { Page } from '../web/paging.ts'

export type ResourceTable = SQLiteTable & { id: SQLiteColumn }

/** `visible` is a condition for the rows that the request may see. */
type Rows<Table extends ResourceTable> = { table: Table; visible: SQL | undefined }

/** Matches rows of the owner; all rows if the resource has no owner. */
export const visibleTo = (
  userId: string,
  { owner, where }: { owner?: SQLiteColumn; where?: () => SQL | undefined },
) => and(owner && eq(owner, userId), where?.())

export const getResource = <Table extends ResourceTable>(
  db: Db,
  { table, visible }: Rows<Table>,
  id: string,
) => getRow(db, table, and(eq(table.id, id), visible))

/** Newest first, with one more row than the page, which shows that more follow. */
export const listResources = <Table extends ResourceTable>(
  db: Db,
  { table, visible }: Rows<Table>,
  page: Page,
) => listPage(db, table, visible, page)

export const deleteResource = (db: Db, table: ResourceTable, id: string, noun: string) =>
  deleteFound(db, table, eq(table.id, id), noun)
