import { Database, SQLiteError } from 'bun:sqlite'
import { join } from 'node:path'
import { Failure } from '../platform/errors.ts'
import { explain } from './failures.ts'

/**
 * Locks a data directory until this process ends, however it ends: the kernel holds the lock. Of two
 * processes, each would treat the other's deployments as interrupted.
 */
export function lockDataDir(dataDir: string) {
  const path = join(dataDir, 'davit.lock')
  try {
    const lock = new Database(path, { create: true })
    lock.run('BEGIN EXCLUSIVE')
    return lock
  } catch (cause) {
    if (!(cause instanceof SQLiteError) || cause.code !== 'SQLITE_BUSY') throw explain(path, cause)
    throw new Failure(
      'data_dir_in_use',
      `The data directory ${dataDir} is in use by another Davit.`,
      'Stop that one first, or give this one its own directory with DAVIT_DATA_DIR.',
      { cause },
    )
  }
}

/** Doesn't take the lock. */
export function isLocked(dataDir: string) {
  try {
    using lock = new Database(join(dataDir, 'davit.lock'), { readonly: true })
    lock.query('SELECT 1 FROM sqlite_schema').all()
    return false
  } catch (error) {
    return error instanceof SQLiteError && error.code === 'SQLITE_BUSY'
  }
}
