import { Failure } from '../platform/errors.ts'
import type { Run } from './run.ts'

/** Runs what has to end within DAVIT_BUILD_TIMEOUT; when that is over it is aborted like a cancelled run. */
export async function withinDeadline<Result>(
  run: Run,
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  const { buildTimeout } = run.config
  const over = AbortSignal.timeout(buildTimeout)
  try {
    return await work({ ...run, signal: AbortSignal.any([run.signal, over]) })
  } catch (error) {
    throw over.aborted && !run.signal.aborted ? tookTooLong(buildTimeout) : error
  }
}

const tookTooLong = (milliseconds: number) =>
  new Failure(
    'build_timeout',
    `Cloning and building took longer than ${inWords(milliseconds)}, and was ended.`,
    'Look in the log for the command that hangs. An admin can allow more minutes with DAVIT_BUILD_TIMEOUT.',
  )

function inWords(milliseconds: number) {
  const minutes = Math.round(milliseconds / 60_000)
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}
