import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { Failure } from '../errors.ts'

/**
 * Takes a data directory for this process, until it ends in whatever way: the lock is the kernel's.
 * Two at once would each take up the other's deployments as interrupted.
 */
export function holdDataDir(dataDir: string) {
  const lock = new Database(join(dataDir, 'davit.lock'), { create: true })
  try {
    lock.run('BEGIN EXCLUSIVE')
  } catch (cause) {
    throw new Failure(
      'data_dir_in_use',
      `The data directory ${dataDir} is in use by another Davit.`,
      'Stop that one first, or give this one a directory of its own with DAVIT_DATA_DIR.',
      { cause },
    )
  }
  return lock
}
