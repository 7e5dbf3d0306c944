/** A query that every request asks: put together once for each database that it is asked of. */
export function preparedOnce<Store extends object, Query>(prepare: (db: Store) => Query) {
  const known = new WeakMap<Store, Query>()
  return (db: Store): Query => {
    const query = known.get(db) ?? prepare(db)
    known.set(db, query)
    return query
  }
}
