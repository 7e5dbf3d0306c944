import type { Database } from 'bun:sqlite'

/** Milliseconds since 1970, of the newest id. */
let latest = 0

/** A new id (UUID version 7), after every other one of this database, also when the clock was put back. */
export function newId() {
  const now = Date.now()
  if (now >= latest) latest = now
  else latest++
  return Bun.randomUUIDv7('hex', latest)
}

/** The ids to come stand after those that an earlier process has made, in whichever table. */
export function continueAfterAll(sqlite: Database) {
  const tables = sqlite.query<{ name: string }, []>(
    `SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c
     WHERE m.type = 'table' AND c.name = 'id' AND c.pk = 1 AND lower(c.type) = 'text'`,
  )
  for (const { name } of tables.all()) {
    const newest = sqlite.query<{ id: string | null }, []>(`SELECT max(id) AS id FROM "${name}"`)
    continueAfter(newest.get()?.id ?? '')
  }
}

function continueAfter(id: string) {
  const time = parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  if (time >= latest) latest = time + 1
}
