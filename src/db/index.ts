import { Database } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { migrate } from 'drizzle-orm/bun-sqlite/migrator'
import { join } from 'node:path'
import { root } from '../root.ts'
import * as logSchema from './log-schema.ts'
import * as schema from './schema.ts'

export type Db = ReturnType<typeof openDatabase>
export type LogDb = ReturnType<typeof openLogDatabase>

/** Opens the state: users, projects, deployments. Creates and upgrades it as needed. */
export const openDatabase = (path: string, migrationsFolder = join(root, 'drizzle')) =>
  upgrade(drizzle(openFile(path), { schema, casing: 'snake_case' }), migrationsFolder)

/** Opens the log rows, a file of their own that can be pruned, or left out of a backup. */
export const openLogDatabase = (path: string, migrationsFolder = join(root, 'drizzle/logs')) =>
  upgrade(drizzle(openFile(path), { schema: logSchema, casing: 'snake_case' }), migrationsFolder)

function openFile(path: string) {
  const sqlite = new Database(path, { create: true, strict: true })
  sqlite.run('PRAGMA busy_timeout = 5000') // first: switching to WAL needs a lock another process may hold
  sqlite.run('PRAGMA journal_mode = WAL')
  sqlite.run('PRAGMA synchronous = NORMAL')
  sqlite.run('PRAGMA journal_size_limit = 67108864') // 64 MiB: a burst of log rows leaves no huge WAL behind
  return sqlite
}

type Migrator = Parameters<typeof migrate>[0]

/**
 * Upgrades run with foreign keys off: drizzle-kit rebuilds a table by dropping it, and inside
 * migrate()'s transaction its own `foreign_keys=OFF` does nothing, so cascades would delete the children.
 */
function upgrade<Opened extends Migrator & { $client: Database }>(
  db: Opened,
  migrationsFolder: string,
) {
  db.$client.run('PRAGMA foreign_keys = OFF')
  migrate(db, { migrationsFolder })
  const broken = db.$client.query('PRAGMA foreign_key_check').all()
  if (broken.length > 0) throw new Error(`Upgrade left ${broken.length} rows without their parent`)
  db.$client.run('PRAGMA foreign_keys = ON')
  return db
}
