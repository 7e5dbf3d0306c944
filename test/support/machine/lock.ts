import { Database } from 'bun:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const machineLock = join(tmpdir(), `davit-machine-${process.getuid?.()}.lock`)

/** Runs the work while no other process of this user does work that changes the machine. */
export const withMachineLock = <T>(work: () => Promise<T>) => withLock(machineLock, work)

/**
 * Runs the work while no other process does so under the same lock. It is one of SQLite's: the kernel
 * frees it when its holder dies, however that happens.
 */
export async function withLock<T>(path: string, work: () => Promise<T>) {
  using database = new Database(path, { create: true })
  while (!isTaken(database)) await Bun.sleep(200)
  return await work()
}

function isTaken(database: Database) {
  try {
    database.run('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return false
    throw error
  }
}
