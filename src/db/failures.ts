import { setTimeout as sleep } from 'node:timers/promises'
import { SQLiteError } from 'bun:sqlite'
import { Failure, conflictField } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import type { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Opens a database, or says in words why it can't be. */
export function explained<Opened>(path: string, open: () => Opened): Opened {
  try {
    return open()
  } catch (error) {
    throw explain(path, error)
  }
}

/** What SQLite says of a file in words; any other error as it is. */
export function explain(path: string, error: unknown) {
  const known = sqliteErrorOf(error)
  if (/CORRUPT|NOTADB/.test(known?.code ?? '')) return damaged(path, known!.message, error)
  const isUnusable = known && /CANTOPEN|READONLY|PERM|FULL|IOERR|BUSY/.test(known.code ?? '')
  const why = isUnusable ? known.message : systemErrorOf(error)
  if (!why) return error
  return new Failure(
    'database_unusable',
    `The database ${path} can not be opened: ${why}.`,
    'Davit must own the file and its directory, and their disk must have room.',
    { cause: error },
  )
}

export const damaged = (path: string, why: string, cause?: unknown) =>
  new Failure(
    'database_damaged',
    `The database ${path} is damaged: ${why}.`,
    'Put a backup in its place. Davit never overwrites it; to start with an empty one, move the file away.',
    { cause },
  )

/** drizzle wraps what SQLite throws. */
function sqliteErrorOf(error: unknown): SQLiteError | null {
  if (error instanceof SQLiteError) return error
  return error instanceof Error && error.cause ? sqliteErrorOf(error.cause) : null
}

function systemErrorOf(error: unknown) {
  const { syscall, code } = error as NodeJS.ErrnoException
  return syscall && code
}

/** Reads all pages of a database, and with `integrity_check` its indexes; throws when one is not sound. */
export function refuseUnsound(sqlite: Database, check: 'integrity_check' | 'quick_check') {
  const [found] = sqlite.query(`PRAGMA ${check}(1)`).values() as [[string]]
  if (found[0] !== 'ok') throw damaged(sqlite.filename, found[0].replaceAll('\n', ' '))
}

/** For what needs a Davit that has been started before: throws where there is none. */
export function refuseMissing(dataDir: string) {
  if (existsSync(join(dataDir, 'davit.db'))) return
  throw new Failure(
    'nothing_there',
    `There is no Davit in ${dataDir}.`,
    'Set DAVIT_DATA_DIR to where it keeps its data.',
  )
}

/** Whether SQLite waited for a lock in vain, or the disk failed it. */
export const isUnavailable = (error: unknown) =>
  /^SQLITE_(BUSY|IOERR)/.test(sqliteErrorOf(error)?.code ?? '')

/** As a user reads it. */
export const databaseUnavailable = (cause?: unknown) =>
  new Failure(
    'database_unavailable',
    'The database of Davit can not be used right now: something holds it, or its disk fails.',
    'Try again soon; the log of Davit has the details.',
    { cause },
  )

/** By the columns of a unique index, as SQLite lists them: the field at fault, and what to do. */
export type Duplicates = Record<string, [field: string, message: string]>

/** Writes, and refuses a duplicate in one of these indexes as a conflict on its field. */
export function refuseDuplicate<Result>(write: () => Result, refused: Duplicates): Result {
  try {
    return write()
  } catch (error) {
    const columns = /^UNIQUE constraint failed: (.+)$/.exec((error as Error).message)?.[1]
    const refusal = columns && refused[columns]
    throw refusal ? conflictField(...refusal) : error
  }
}

/** Milliseconds between looks whether the disk has room. */
const retryDelay = 1000

/** Whether a write found no room on the disk; drizzle wraps what SQLite throws. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error &&
  (fullCodes.has((error as NodeJS.ErrnoException).code ?? '') || isDiskFull(error.cause))

// the second is said where the memory that a database shares can't grow, the others by files beside it
const fullCodes = new Set(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'])

/** Runs a write that can be left out: nobody who only looks is refused because the disk is full. */
export function unlessFull(write: () => void) {
  try {
    write()
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
}

/** Runs a write that must not be left out: again and again while the disk is full, until the signal. */
export async function retryOnDiskFull<Result>(
  write: () => Result,
  { signal }: { signal: AbortSignal },
): Promise<Result> {
  for (let tries = 0; ; tries++)
    try {
      return write()
    } catch (error) {
      if (!isDiskFull(error) || signal.aborted) throw error
      if (tries === 0) report('waiting for room on the disk', diskFull(error))
      await sleep(retryDelay, undefined, { signal }).catch(() => {})
    }
}

/** As a user reads it. */
export const diskFull = (cause?: unknown) =>
  new Failure(
    'disk_full',
    'The disk with the data of Davit is full, so this can not be stored.',
    'Free some space on it (Settings, Clean-up shows what takes it), then try again.',
    { cause },
  )
