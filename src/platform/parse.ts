import { workerEntry } from './root.ts'
import { DeadlineError, WorkerPool } from './worker-pool.ts'
import type { TaskOptions } from './worker-pool.ts'

type Options = Partial<TaskOptions> & { tooLong: () => Error }

const pool = new WorkerPool(workerEntry('parse-worker'), { size: 2, idle: 10_000 })

/**
 * Parses untrusted text on another thread, so that no text blocks this one. `task` is the name of one of the
 * worker's functions, which this thread needn't load: `parse<typeof readAnswer>('readAnswer', …)`. Throws
 * what it throws (AppError and Failure as they are), or `tooLong` after the deadline.
 */
export async function parse<Task extends (...args: never[]) => unknown>(
  task: string,
  args: Parameters<Task>,
  { tooLong, deadline = 5_000, owner, signal }: Options,
): Promise<ReturnType<Task>> {
  try {
    const value = await pool.run(task, args, { deadline, owner, signal })
    return value as ReturnType<Task>
  } catch (error) {
    throw error instanceof DeadlineError ? tooLong() : error
  }
}
