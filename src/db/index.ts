import { Database } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { migrate } from 'drizzle-orm/bun-sqlite/migrator'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../platform/errors.ts'
import { root } from '../platform/root.ts'
import { writeFileAtomically } from '../platform/atomic-write.ts'
import { continueAfterAll } from './new-id.ts'
import { ReservedDatabase } from './reserved-database.ts'
import { persistWal } from './wal-guard.ts'
import { refuseUnsound, damaged, explained } from './failures.ts'
import * as logSchema from './log-schema.ts'
import * as schema from './schema.ts'

export type Db = ReturnType<typeof openDatabase>
export type LogDb = ReturnType<typeof openLogDatabase>

/** The database, or a transaction on it. */
export type Tx = Pick<Db, 'select' | 'insert' | 'update' | 'delete' | '$count'>

const migrations = join(root, 'drizzle')
const logMigrations = join(root, 'drizzle/logs')

/** Opens the database of users, projects and deployments. Creates and upgrades it as needed. */
export const openDatabase = (path: string, migrationsFolder = migrations) =>
  openWhole(path, (at) => {
    const file = openFile(at)
    refuseUnsound(file, 'quick_check') // SQLite finds a damaged page only when it reads it
    const db = upgrade(drizzle(file, { schema, casing: 'snake_case' }), migrationsFolder)
    continueAfterAll(file)
    return db
  })

/** The log database is a separate file that can be pruned, or excluded from a backup. */
export const openLogDatabase = (path: string, migrationsFolder = logMigrations) =>
  openWhole(path, (at) =>
    upgrade(drizzle(openFile(at), { schema: logSchema, casing: 'snake_case' }), migrationsFolder),
  )

/** Opens the database while the server may be running: it is neither created nor upgraded. */
export const openExisting = (path: string): Db =>
  explained(path, () => {
    refuseEmpty(path)
    const sqlite = openFile(path)
    refuseNewer(sqlite, migrations)
    if (newestApplied(sqlite) !== newestKnown(migrations))
      throw new Failure(
        'database_older',
        `The database ${path} was last used by an older version of Davit.`,
        'Start this version once, so that it is upgraded, then try again.',
      )
    sqlite.run('PRAGMA foreign_keys = ON')
    persistWal(sqlite) // the server owns the files that closing would remove
    return drizzle(sqlite, { schema, casing: 'snake_case' })
  })

/** Creates a new database atomically: one without its tables is damaged, never mistaken for a new one. */
function openWhole<Opened extends Migrator & { $client: Database }>(
  path: string,
  open: (path: string) => Opened,
): Opened {
  return explained(path, () => {
    if (path === ':memory:') return open(path)
    if (existsSync(path)) refuseEmpty(path)
    else make()
    return open(path)
  })

  function make() {
    if (existsSync(`${path}-wal`)) throw damaged(path, 'it is missing, except for its -wal')
    using empty = open(':memory:').$client
    writeFileAtomically(path, empty.serialize())
  }
}

function refuseEmpty(path: string) {
  if (statSync(path).size === 0) throw damaged(path, 'it is empty')
  using sqlite = new Database(path, { readonly: true })
  if (!isMigrated(sqlite)) throw damaged(path, 'its tables are missing')
}

const isMigrated = (sqlite: Database) =>
  sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'").get() !== null

function openFile(path: string) {
  const sqlite = new ReservedDatabase(path, { create: true, strict: true })
  // first: switching to WAL needs a lock that another process may hold
  sqlite.run('PRAGMA busy_timeout = 5000')
  sqlite.run('PRAGMA journal_mode = WAL')
  sqlite.run('PRAGMA synchronous = NORMAL')
  sqlite.transaction(() => {}).immediate() // a read-only file fails here
  sqlite.run('PRAGMA journal_size_limit = 67108864') // 64 MiB: a burst of log rows leaves no huge WAL behind
  return sqlite
}

type Migrator = Parameters<typeof migrate>[0]

/**
 * Upgrades run with foreign keys off: drizzle-kit rebuilds a table by dropping it, and inside migrate()'s
 * transaction its own `foreign_keys=OFF` does nothing, so cascades would delete the children.
 */
function upgrade<Opened extends Migrator & { $client: Database }>(
  db: Opened,
  migrationsFolder: string,
) {
  refuseNewer(db.$client, migrationsFolder)
  db.$client.run('PRAGMA foreign_keys = OFF')
  if (!isMigrated(db.$client) || newestApplied(db.$client) !== newestKnown(migrationsFolder))
    migrate(db, { migrationsFolder })
  const broken = db.$client.query('PRAGMA foreign_key_check').all()
  if (broken.length > 0)
    throw new Error(`The upgrade left ${broken.length} rows without their parent`)
  db.$client.run('PRAGMA foreign_keys = ON')
  return db
}

/** Migrations can't be reversed, and an older Davit would write what a newer one doesn't expect. */
function refuseNewer(sqlite: Database, migrationsFolder: string) {
  if (isMigrated(sqlite) && newestApplied(sqlite) > newestKnown(migrationsFolder))
    throw new Failure(
      'database_newer',
      `The database ${sqlite.filename} was written by a newer version of Davit.`,
      'Start that version, or restore a backup from before its upgrade.',
    )
}

/** The times of the newest migrations that this version knows. */
export const knownSchema = () => ({
  state: newestKnown(migrations),
  logs: newestKnown(logMigrations),
})

/** The time of the newest migration that was applied to a database, which may be in use. */
export const appliedSchema = (path: string) =>
  explained(path, () => {
    using sqlite = new Database(path, { readonly: true })
    return newestApplied(sqlite)
  })

/** Only reads their list: reading all of them takes as long as the rest of opening a database. */
function newestKnown(migrationsFolder: string) {
  const journal = readFileSync(join(migrationsFolder, 'meta/_journal.json'), 'utf8')
  return (JSON.parse(journal) as { entries: { when: number }[] }).entries.at(-1)?.when ?? 0
}

const newestApplied = (sqlite: Database) =>
  sqlite
    .query<{ at: number | null }, []>('SELECT max(created_at) AS at FROM __drizzle_migrations')
    .get()?.at ?? 0
