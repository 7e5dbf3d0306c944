import { SQLiteError } from 'bun:sqlite'
import { Failure } from '../platform/errors.ts'

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
