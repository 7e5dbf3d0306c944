import { SQLiteError } from 'bun:sqlite'
import { Failure, conflictField } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { sleepUpTo } from '../platform/pause.ts'
import type { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Opens a database, or throws a Failure that explains why it can't be opened. */
export function explained<Opened>(path: string, open: () => Opened): Opened {
  try {
    return open()
  } catch (error) {
    throw explain(path, error)
  }
}

/** Turns SQLite's error about a file into a Failure. Any other error is returned unchanged. */
export function explain(path: string, error: unknown) {
  const known = sqliteErrorOf(error)
  if (/CORRUPT|NOTADB/.test(known?.code ?? '')) return damaged(path, known!.message, error)
  const isUnusable = known && /CANTOPEN|READONLY|PERM|FULL|IOERR|BUSY/.test(known.code ?? '')
  const why = isUnusable ? known.message : systemErrorOf(error)
  if (!why) return error
  return new Failure(
    'database_unusable',
    `The database ${path} can’t be opened: ${why}.`,
    'Davit must own the file and its directory, and their disk must have free space.',
    { cause: error },
  )
}

export const damaged = (path: string, why: string, cause?: unknown) =>
  new Failure(
    'database_damaged',
    `The database ${path} is damaged: ${why}.`,
    'Replace it with a backup. Davit never overwrites it; to start with an empty one, move the file away.',
    { cause },
  )

/** drizzle wraps SQLite's errors. */
function sqliteErrorOf(error: unknown): SQLiteError | null {
  if (error instanceof SQLiteError) return error
  return error instanceof Error && error.cause ? sqliteErrorOf(error.cause) : null
}

function systemErrorOf(error: unknown) {
  const { syscall, code } = error as NodeJS.ErrnoException
  return syscall && code
}

/** Reads all pages of a database, and with `integrity_check` its indexes. Throws when one is damaged. */
export function refuseUnsound(sqlite: Database, check: 'integrity_check' | 'quick_check') {
  const [found] = sqlite.query(`PRAGMA ${check}(1)`).values() as [[string]]
  if (found[0] !== 'ok') throw damaged(sqlite.filename, found[0].replaceAll('\n', ' '))
}

/** Throws unless a Davit was started on this data directory before. */
export function refuseMissing(dataDir: string) {
  if (existsSync(join(dataDir, 'davit.db'))) return
  throw new Failure(
    'nothing_there',
    `There is no Davit data in ${dataDir}.`,
    'Set DAVIT_DATA_DIR to the directory with its data.',
  )
}

/** True when SQLite timed out on a lock, or the disk failed. */
export const isUnavailable = (error: unknown) =>
  /^SQLITE_(BUSY|IOERR)/.test(sqliteErrorOf(error)?.code ?? '')

export const databaseUnavailable = (cause?: unknown) =>
  new Failure(
    'database_unavailable',
    'Davit’s database can’t be used right now: it is locked, or its disk fails.',
    'Try again soon. Davit’s log has the details.',
    { cause },
  )

/** What is said of a duplicate, by the last column of a unique index; a field of another name is named. */
export type Duplicates = Record<string, string | [field: string, message: string]>

/** Turns a duplicate in one of these indexes into a conflict on its field. */
export function refuseDuplicate<Result>(write: () => Result, refused: Duplicates): Result {
  try {
    return write()
  } catch (error) {
    const column = /^UNIQUE constraint failed: .+\.(\w+)$/.exec((error as Error).message)?.[1]
    const said = column && refused[column]
    if (!said) throw error
    throw typeof said === 'string' ? conflictField(column, said) : conflictField(...said)
  }
}

/** Undefined when the parent of a new row was deleted meanwhile; the transaction goes on. */
export function unlessOrphan<Result>(insert: () => Result): Result | undefined {
  try {
    return insert()
  } catch (error) {
    if (!/FOREIGN KEY constraint failed/.test(sqliteErrorOf(error)?.message ?? '')) throw error
    return undefined
  }
}

/** Milliseconds between checks for free disk space. */
const retryDelay = 1000

/** True when a write found the disk full; drizzle wraps SQLite's errors. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error &&
  (fullCodes.has((error as NodeJS.ErrnoException).code ?? '') || isDiskFull(error.cause))

// the second comes from a database's shared memory, the others from files beside it
const fullCodes = new Set(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'])

/** Runs a write that can be skipped, so that reads keep working when the disk is full. */
export function unlessFull(write: () => void) {
  try {
    write()
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
}

export const waitingForSpace = 'waiting for free space on the disk'

/** Runs a write that must not be skipped: retries while the disk is full, until the signal. */
export async function retryOnDiskFull<Result>(
  write: () => Result | Promise<Result>,
  { signal }: { signal: AbortSignal },
): Promise<Result> {
  for (let tries = 0; ; tries++)
    try {
      return await write()
    } catch (error) {
      if (!isDiskFull(error) || signal.aborted) throw error
      if (tries === 0) report(waitingForSpace, diskFull(error))
      await sleepUpTo(retryDelay, signal)
    }
}

export const diskFull = (cause?: unknown) =>
  new Failure(
    'disk_full',
    'The disk with Davit’s data is full, so this can’t be stored.',
    'Free some space on it (Settings, Clean-up shows what uses it), then try again.',
    { cause },
  )
