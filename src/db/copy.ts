import { Database } from 'bun:sqlite'
import { explained, refuseUnsound } from './failures.ts'

export type Counts = Record<string, number>

/** Copies a database that may be in use, its `-wal` included, as a consistent snapshot. Blocks no writers. */
export const copyDatabase = (from: string, to: string) =>
  explained(from, () => {
    using sqlite = new Database(from, { readonly: true })
    sqlite.run('PRAGMA busy_timeout = 30000')
    sqlite.query('VACUUM INTO ?').run(to)
  })

/** Reads all of a database that no one has open, and counts its rows. Throws when it is damaged. */
export const verifyDatabase = (path: string): Counts =>
  explained(path, () => {
    using sqlite = new Database(path, { readonly: true })
    refuseUnsound(sqlite, 'integrity_check')
    const tables = sqlite
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .filter(({ name }) => !name.startsWith('sqlite_'))
    return Object.fromEntries(tables.map(({ name }) => [name, countOf(sqlite, name)]))
  })

/** Reads the pages of a database that may be in use. Throws when one is damaged. */
export const checkDatabase = (path: string) =>
  explained(path, () => {
    using sqlite = new Database(path, { readonly: true })
    refuseUnsound(sqlite, 'quick_check')
  })

const countOf = (sqlite: Database, table: string) =>
  sqlite.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM "${table}"`).get()!.rows

/** Reads the installation from a database of any version; null when it never started. */
export const installationIn = (path: string) =>
  explained(path, () => {
    using sqlite = new Database(path, { readonly: true })
    return sqlite
      .query<{ id: string; keyCheck: string }, []>(
        'SELECT id, key_check AS keyCheck FROM installation',
      )
      .get()
  })
