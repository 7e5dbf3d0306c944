import { and, eq, getTableColumns } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from '../db/index.ts'
import { refuseDuplicate } from '../db/failures.ts'
import type { Duplicates } from '../db/failures.ts'
import { newId } from '../db/new-id.ts'
import { countRows, deleteFound, getRow, listPage } from '../db/queries.ts'
import { refuseMore } from '../platform/limits.ts'
import type { Limited } from '../platform/limits.ts'
import type { Secrets } from '../platform/secrets.ts'
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

export type Stored = {
  kind: string
  /** How many each owner may have. */
  most?: Limited
  /** Fields that are stored encrypted, for `sealedAs` of the row. */
  sealed?: readonly string[]
  unique?: Duplicates
}

/** The additional data that the sealed fields of a row are encrypted with. */
export const sealedAs = (kind: string, id: string) => `${kind} ${id}`

export function insertOwned<Table extends ResourceTable>(
  { db, secrets }: { db: Db; secrets?: Secrets },
  { kind, most, sealed = [], unique = {}, ...rows }: Rows<Table> & Stored,
  { userId, values }: { userId: string; values: { [field: string]: unknown } },
): string {
  const { table, owner } = rows
  if (most) refuseMore(most, countRows(db, table, visibleTo(userId, rows)))
  const id = newId()
  const owned = Object.entries(getTableColumns(table)).flatMap(([name, column]) =>
    column === owner ? [[name, userId]] : [],
  )
  const hidden = sealed.map((name) => [
    name,
    secrets!.seal(String(values[name]), sealedAs(kind, id)),
  ])
  const row = { id, ...values, ...Object.fromEntries([...owned, ...hidden]) }
  refuseDuplicate(() => db.insert(table).values(row).run(), unique)
  return id
}
