import { constants } from 'bun:sqlite'
import type { Database } from 'bun:sqlite'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Failure } from '../platform/errors.ts'

/**
 * What was written last is in a file beside the database until Davit ends in good order. Gone without
 * that, the database still opens, as it was hours ago or as new: that must not pass for the truth.
 */
export function refuseLostWal(path: string) {
  if (!existsSync(path) || existsSync(`${path}-wal`)) return
  const mark = markOf(path)
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== identityOf(path)) return
  throw new Failure(
    'database_damaged',
    `The database ${path} is damaged: Davit did not end in good order, and ${basename(path)}-wal, which holds what was written last, is missing.`,
    `Put that file or a backup in its place. To go on with what is left, delete ${mark}.`,
  )
}

/** From now on the database is whole only together with its `-wal`. */
export function markInUse(path: string) {
  rmSync(markOf(path), { force: true })
  writeFileSync(markOf(path), identityOf(path))
}

/** Call it when all is in the one file again, before that is closed. */
export const clearInUse = (path: string) => rmSync(markOf(path), { force: true })

/** A process that ends at once closes it too: SQLite is not to take the `-wal` away then. */
export const persistWal = (sqlite: Database) =>
  void sqlite.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)

/** All is in the one file then, so that a copy of that alone is whole. */
export function closeCleanly(sqlite: Database) {
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  clearInUse(sqlite.filename)
  sqlite.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 0)
  sqlite.close()
}

const markOf = (path: string) => `${path}-in-use`

/** Another file that was put in its place is not the one that was in use. */
const identityOf = (path: string) => String(statSync(path).ino)
