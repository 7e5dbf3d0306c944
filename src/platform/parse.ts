import { workerEntry } from './root.ts'
import { DeadlineError, WorkerPool } from './worker-pool.ts'

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
 * Reads text that someone else wrote on another thread, so that no text stops this one. `task` is one of
 * the worker's functions under its name there, as in `{ readAnswer }`: a minified function has another
 * one. Throws what it throws (AppError and Failure as they are), or `tooLong` after the deadline.
 */
export async function parse<Args extends unknown[], Result>(
  task: Record<string, (...args: Args) => Result>,
  args: Args,
  { tooLong, deadline = 5_000, owner, signal }: Options,
): Promise<Result> {
  try {
    const value = await pool.run(Object.keys(task)[0]!, args, { deadline, owner, signal })
    return value as Result
  } catch (error) {
    throw error instanceof DeadlineError ? tooLong() : error
  }
}
