import { SQLiteError } from 'bun:sqlite'
import { Failure, conflictField } from '../platform/errors.ts'
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
    'Put a backup in its place. Davit never overwrites it; only moving the file away starts anew.',
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

/** Whether SQLite waited for a lock in vain, or the disk failed it; drizzle wraps what SQLite throws. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof Error &&
  (/^SQLITE_(BUSY|IOERR)/.test(String((error as NodeJS.ErrnoException).code)) ||
    isUnavailable(error.cause))

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
