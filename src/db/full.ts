import { Failure } from '../errors.ts'

/** Whether a write found no room on the disk; drizzle wraps what SQLite throws. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error &&
  (fullCodes.has((error as NodeJS.ErrnoException).code ?? '') || isDiskFull(error.cause))

// the second is said where the memory that a database shares can't grow, the others by files beside it
const fullCodes = new Set(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'])

export const diskFull = (cause?: unknown) =>
  new Failure(
    'disk_full',
    'The disk with the data of Davit is full, so this can not be stored.',
    'Free some space on it (Settings, Clean-up shows what takes it), then try again.',
    { cause },
  )
