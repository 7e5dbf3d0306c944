import { and, eq, getTableColumns } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { withDefaults } from '../db/columns.ts'
import { refuseDuplicate } from '../db/failures.ts'
import type { Duplicates } from '../db/failures.ts'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { asWriter, changeRow, countRows, deleteFound, getRow, listPage } from '../db/queries.ts'
import { AppError } from '../platform/errors.ts'
import { refuseMore } from '../platform/limits.ts'
import type { Limited } from '../platform/limits.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Page } from '../web/paging.ts'

export type ResourceTable = SQLiteTable & { id: SQLiteColumn }

type Rows<Table> = {
  table: Table
  /** The id of the owner, or of the parent; omitted if all who may see the resource share the rows. */
  owner?: SQLiteColumn
  /** Rows that don't match count as missing. */
  where?: () => SQL | undefined
}

const visibleTo = (ownerId: string, { owner, where }: Rows<unknown>) =>
  and(owner && eq(owner, ownerId), where?.())

export const getVisible = <Table extends ResourceTable>(
  db: Db,
  rows: Rows<Table>,
  { id, ownerId }: { id: string; ownerId: string },
) => getRow(db, rows.table, and(eq(rows.table.id, id), visibleTo(ownerId, rows)))

/** Newest first, with one more row than the page, which shows that more follow. */
export const listVisible = <Table extends ResourceTable>(
  db: Db,
  rows: Rows<Table>,
  { ownerId, ...page }: Page & { ownerId: string },
) => listPage(db, rows.table, visibleTo(ownerId, rows), page)

export const deleteRow = (db: Db, table: ResourceTable, id: string, noun: string) =>
  deleteFound(db, table, eq(table.id, id), noun)

/** What a resource says of its rows. */
export type StoredRows<Table> = Rows<Table> & {
  kind: string
  /** How many each owner may have. */
  most?: Limited
  /** Fields that are stored encrypted, for `sealedAs` of the row. A change that omits one keeps it. */
  sealed?: readonly string[]
  /** What is said of a duplicate, by the last column of the unique index: the field at fault. By default of a name. */
  unique?: Duplicates
  /** Throws for what other rows refuse, in the transaction that stores one. */
  refuse?: (db: Db, row: { id: string; ownerId: string; values: object }) => void
}

/** A row with its sealed fields in clear. Throws when one was sealed with another secret key. */
export function unsealed<Row extends { id: string }>(
  secrets: Secrets,
  { kind, sealed = [] }: Pick<StoredRows<unknown>, 'kind' | 'sealed'>,
  row: Row,
): Row {
  const values = row as Values
  const open = (name: string) => secrets.open(String(values[name]), sealedAs(kind, row.id))
  const names = sealed.filter((name) => values[name] != null)
  return { ...row, ...Object.fromEntries(names.map((name) => [name, open(name)])) }
}

/** The additional data that the sealed fields of a row are encrypted with. */
export const sealedAs = (kind: string, id: string) => `${kind} ${id}`

type Values = { [field: string]: unknown }

/** `also` runs in the transaction that stores the row, after it. */
type Storing = { also?: (() => void) | undefined }

export function insertOwned<Table extends ResourceTable>(
  { db, secrets }: { db: Db; secrets?: Secrets },
  { kind, most, sealed = [], unique = {}, refuse, ...rows }: StoredRows<Table>,
  { ownerId, values, also }: Storing & { ownerId: string; values: Values },
): string {
  const { table, owner } = rows
  if (most) refuseMore(most, countRows(db, table, visibleTo(ownerId, rows)))
  const id = String(values.id ?? newId())
  const owned = Object.entries(getTableColumns(table)).flatMap(([name, column]) =>
    column === owner ? [[name, ownerId]] : [],
  )
  const row = {
    ...{ id, ...withDefaults(table, values as never), ...Object.fromEntries(owned) },
    ...sealedIn(values, { secrets, sealed, as: sealedAs(kind, id) }),
  }
  const insert = () => {
    refuse?.(db, { id, ownerId, values })
    db.insert(table).values(row).run()
    also?.()
  }
  refuseDuplicate(() => asWriter(db, insert), unique)
  return id
}

/**
 * The row as it is once a change was checked, which may take long. Throws when a field of the form is another than
 * the one that the change was completed with: what else was changed meanwhile would be lost.
 */
export function asBefore<Stored extends { [column: string]: unknown }>(
  noun: string,
  { now, row, input }: { now: Stored; row: Stored; input: object },
): Stored {
  if (Object.keys(input).every((name) => Bun.deepEquals(now[name], row[name]))) return now
  throw new AppError(
    'conflict',
    `This ${noun} was changed meanwhile. Look at it, then change it again.`,
  )
}

/** Null restores a column's default. */
export function changeOwned<Table extends ResourceTable>(
  { db, secrets }: { db: Db; secrets?: Secrets },
  { kind, sealed = [], unique = {}, refuse, table }: StoredRows<Table>,
  { id, ownerId, values, also }: Storing & { id: string; ownerId: string; values: Values },
) {
  const changes = { ...values, ...sealedIn(values, { secrets, sealed, as: sealedAs(kind, id) }) }
  const change = () => {
    refuse?.(db, { id, ownerId, values })
    changeRow(db, table, id, changes as never)
    also?.()
  }
  refuseDuplicate(() => asWriter(db, change), unique)
}

/** A field without a value has nothing to seal. */
const sealedIn = (
  values: Values,
  { secrets, sealed, as }: { secrets?: Secrets | undefined; sealed: readonly string[]; as: string },
) =>
  Object.fromEntries(
    sealed
      .filter((name) => values[name] != null)
      .map((name) => [name, secrets!.seal(String(values[name]), as)]),
  )
