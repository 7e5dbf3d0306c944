import { workerEntry } from './worker-entry.ts'
import { DeadlineError, WorkerPool } from './worker-pool.ts'
import type { Tasks } from '../parse-worker.ts'

type Options = {
  /** What to throw when it takes too long. */
  tooLong: () => Error
  /** Milliseconds that it may take. */
  deadline?: number
  /** Whose text it is: of one owner's texts only one is read at a time. */
  owner?: string
  signal?: AbortSignal | undefined
}

const pool = new WorkerPool(workerEntry('parse-worker'), { size: 2, idle: 10_000 })

/**
 * Reads text that someone else wrote on another thread, so that no text stops this one. Throws what the
 * task throws (AppError and Failure as they are), or `tooLong` after the deadline.
 */
export async function parse<Name extends keyof Tasks>(
  name: Name,
  args: Parameters<Tasks[Name]>,
  { tooLong, deadline = 5_000, owner, signal }: Options,
): Promise<ReturnType<Tasks[Name]>> {
  try {
    const value = await pool.run(name, args, { deadline, owner, signal })
    return value as ReturnType<Tasks[Name]>
  } catch (error) {
    throw error instanceof DeadlineError ? tooLong() : error
  }
}
