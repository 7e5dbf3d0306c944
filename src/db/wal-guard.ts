import { constants } from 'bun:sqlite'
import type { Database } from 'bun:sqlite'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Failure } from '../platform/errors.ts'

/**
 * The latest writes are in a file beside the database until Davit shuts down cleanly. Without that file the
 * database still opens, but is hours old or empty: that must be detected.
 */
export function refuseLostWal(path: string) {
  if (!existsSync(path) || existsSync(`${path}-wal`)) return
  const mark = markOf(path)
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== identityOf(path)) return
  throw new Failure(
    'database_damaged',
    `The database ${path} is damaged: Davit wasn’t shut down cleanly, and ${basename(path)}-wal, which holds the latest writes, is missing.`,
    `Restore that file or a backup. To continue with what is left, delete ${mark}.`,
  )
}

/** From now on the database is complete only together with its `-wal`. */
export function markInUse(path: string) {
  rmSync(markOf(path), { force: true })
  writeFileSync(markOf(path), identityOf(path))
}

/** Call it when everything is in the one file again, before that is closed. */
export const clearInUse = (path: string) => rmSync(markOf(path), { force: true })

/** A process that exits closes it too: SQLite must not remove the `-wal` then. */
export const persistWal = (sqlite: Database) =>
  void sqlite.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)

/** Moves everything into the one file, so that a copy of it alone is complete. */
export function closeCleanly(sqlite: Database) {
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  clearInUse(sqlite.filename)
  sqlite.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 0)
  sqlite.close()
}

const markOf = (path: string) => `${path}-in-use`

/** A replaced file isn't the one that was in use. */
const identityOf = (path: string) => String(statSync(path).ino)
