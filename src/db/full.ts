import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'

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
