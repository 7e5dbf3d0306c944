import { count } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from './index.ts'

/** How many rows of a table there are of that kind. */
export const countRows = (db: Pick<Db, 'select'>, table: SQLiteTable, where: SQL | undefined) =>
  db.select({ rows: count() }).from(table).where(where).get()!.rows

/** A query that every request asks: put together once for each database that it is asked of. */
export function preparedOnce<Store extends object, Query>(prepare: (db: Store) => Query) {
  const known = new WeakMap<Store, Query>()
  return (db: Store): Query => {
    const query = known.get(db) ?? prepare(db)
    known.set(db, query)
    return query
  }
}

/**
 * Another value after every change that this process made to the database: what was read before may be
 * stale. What others change, `davit user reset-password` among them, it does not see, so that nothing
 * may be believed for long because of it.
 */
export const ownChangesOf = ({ $client }: Pick<Db, '$client'>) =>
  $client.query<{ changes: number }, []>('SELECT total_changes() AS changes').get()!.changes
