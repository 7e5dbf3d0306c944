import type { Database } from 'bun:sqlite'

/** Time of the newest id, in milliseconds since 1970. */
export const newest = { time: 0 }

/** A UUID version 7, greater than every other one of this database, even when the clock was set back. */
export function newId() {
  const now = Date.now()
  newest.time = now >= newest.time ? now : newest.time + 1
  return Bun.randomUUIDv7('hex', newest.time)
}

/** Milliseconds since 1970; undefined for an id that isn't ours. */
export const timeOfId = (id: string) =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id) ? parseInt(id.replace('-', '').slice(0, 12), 16) : undefined

/** Makes new ids greater than those of earlier processes, in every table. */
export function continueAfterAll(sqlite: Database) {
  const tables = sqlite.query<{ name: string }, []>(
    `SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c
     WHERE m.type = 'table' AND c.name = 'id' AND c.pk = 1 AND lower(c.type) = 'text'`,
  )
  const each = tables.all().map(({ name }) => `SELECT max(id) AS id FROM "${name}"`)
  if (each.length === 0) return
  const ids = sqlite.query<{ id: string | null }, []>(each.join(' UNION ALL '))
  for (const { id } of ids.all()) continueAfter(id ?? '')
}

function continueAfter(id: string) {
  const time = parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  if (time >= newest.time) newest.time = time + 1
}
