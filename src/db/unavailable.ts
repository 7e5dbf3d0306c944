import { Failure } from '../platform/errors.ts'

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
