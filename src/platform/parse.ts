import { workerEntry } from './root.ts'
import { DeadlineError, WorkerPool } from './worker-pool.ts'

type Options = {
  /** The error when it takes too long. */
  tooLong: () => Error
  /** Milliseconds that it may take. */
  deadline?: number
  /** Only one text is read at a time for each owner. */
  owner?: string
  signal?: AbortSignal | undefined
}

const pool = new WorkerPool(workerEntry('parse-worker'), { size: 2, idle: 10_000 })

/**
 * Parses untrusted text on another thread, so that no text blocks this one. `task` is one of the worker's
 * functions under its name there, as in `{ readAnswer }`: a minified function has another name. Throws what
 * it throws (AppError and Failure as they are), or `tooLong` after the deadline.
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
