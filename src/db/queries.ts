import { and, count, desc, eq, getTableColumns, lt, sql } from 'drizzle-orm'
import type { GetColumnData, Placeholder, SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { notFound } from '../platform/errors.ts'
import { withDefaults } from './columns.ts'
import type { Changes } from './columns.ts'
import type { Db, LogDb, Tx } from './index.ts'

type Where = SQL | undefined

export const countRows = (db: Tx, table: SQLiteTable, where: Where) =>
  db.select({ rows: count() }).from(table).where(where).get()!.rows

export const getRow = <Table extends SQLiteTable>(
  db: Tx | LogDb,
  table: Table,
  where: Where,
  ...order: SQL[]
): Table['$inferSelect'] | undefined => readRows(db, table, { where, order, limit: 1 })[0]

export const listRows = <Table extends SQLiteTable>(
  db: Tx | LogDb,
  table: Table,
  where: Where,
  ...order: SQL[]
): Table['$inferSelect'][] => readRows(db, table, { where, order })

/** A page of the matching rows plus one more row, newest first. */
export const listPage = <Table extends SQLiteTable & { id: SQLiteColumn }>(
  db: Tx,
  table: Table,
  where: Where,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
): Table['$inferSelect'][] =>
  readRows(db, table, {
    where: and(where, cursor ? lt(table.id, cursor) : undefined),
    order: [desc(table.id)],
    limit: limit + 1,
  })

type Head = { text: SQL; columns: [name: string, column: SQLiteColumn][] }

/** The start of each table's SELECT: building it takes longer than reading a few rows. */
const heads = new WeakMap<SQLiteTable, Head>()

function headOf(db: Tx | LogDb, table: SQLiteTable) {
  const text = sql.raw((db as Tx).select().from(table).toSQL().sql)
  const head = { text, columns: Object.entries(getTableColumns(table)) }
  heads.set(table, head)
  return head
}

function readRows<Table extends SQLiteTable>(
  db: Tx | LogDb,
  table: Table,
  { where, order, limit }: { where: Where; order: SQL[]; limit?: number },
) {
  const { text, columns } = heads.get(table) ?? headOf(db, table)
  const query = sql`${text}`
  if (where) query.append(sql` where ${where}`)
  if (order.length > 0) query.append(sql` order by ${sql.join(order, sql`, `)}`)
  if (limit !== undefined) query.append(sql` limit ${limit}`)
  return (db as Db).values<unknown[]>(query).map((row) => {
    const read = columns.map(([name, column], at) => [
      name,
      row[at] === null ? null : column.mapFromDriverValue(row[at]),
    ])
    return Object.fromEntries(read) as Table['$inferSelect']
  })
}

/** Distinct values of the matching rows. */
export const listValues = <Column extends SQLiteColumn>(
  db: Tx | LogDb,
  column: Column,
  where?: Where,
): GetColumnData<Column>[] =>
  (db as Tx)
    .select({ value: column as SQLiteColumn })
    .from(column.table as SQLiteTable)
    .where(where)
    .groupBy(column as SQLiteColumn)
    .all()
    .map(({ value }) => value as GetColumnData<Column>)

/** True when a row matches. */
export const hasRow = (db: Tx | LogDb, table: SQLiteTable, where?: Where) =>
  (db as Tx)
    .select({ one: sql`1` })
    .from(table)
    .where(where)
    .limit(1)
    .get() !== undefined

/** For a prepared query: a value for each column, by its name. */
export const placeholders = <Table extends SQLiteTable>(table: Table) =>
  Object.fromEntries(
    Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)]),
  ) as Record<keyof Table['$inferSelect'], Placeholder>

/** Where a row has the same key, it gets all other values of the inserted one. */
export const overwriting = (table: SQLiteTable, ...target: SQLiteColumn[]) => ({
  target,
  set: Object.fromEntries(
    Object.entries(getTableColumns(table))
      .filter(([, column]) => !target.includes(column as SQLiteColumn))
      .map(([name]) => [
        name,
        sql`excluded.${sql.identifier(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))}`,
      ]),
  ),
})

/** Changes the fields that are present, and returns the row. */
export const changeRow = <Table extends SQLiteTable & { id: SQLiteColumn }>(
  db: Tx,
  table: Table,
  id: string,
  changes: Changes<Table>,
): Table['$inferSelect'] =>
  Object.values(changes).every((value) => value === undefined)
    ? getRow(db, table, eq(table.id, id))!
    : db
        .update(table as SQLiteTable)
        .set(withDefaults(table, changes))
        .where(eq(table.id, id))
        .returning()
        .get()

/** Deletes the matching row, and returns it. Throws `not_found` when there is none. */
export function deleteFound<Table extends SQLiteTable>(
  db: Tx,
  table: Table,
  where: Where,
  what: string,
) {
  const row = db.delete(table).where(where).returning().get()
  if (!row) throw notFound(what)
  return row as Table['$inferSelect']
}

/** A transaction that takes the lock of writers first: what it reads is still so when it writes. */
export function asWriter<Result>(db: Db, work: (tx: Tx) => Result): Result {
  return db.transaction(work, { behavior: 'immediate' })
}

/** For a query of every request: prepared once for each database. */
export function preparedOnce<Store extends object, Query>(prepare: (db: Store) => Query) {
  const known = new WeakMap<Store, Query>()
  return (db: Store): Query => {
    const query = known.get(db) ?? prepare(db)
    known.set(db, query)
    return query
  }
}

/**
 * Changes with every write of this process to the database, so that cached reads can be checked. It doesn't
 * see writes of other processes, such as `davit user reset-password`, so cache briefly.
 */
export const ownChangesOf = ({ $client }: Pick<Db, '$client'>) =>
  $client.query<{ changes: number }, []>('SELECT total_changes() AS changes').get()!.changes
