import type { Docker } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'

/** The promise's value, or null when it takes longer than that many milliseconds; the work goes on. */
export function within<Value>(milliseconds: number, promise: Promise<Value>) {
  return new Promise<Value | null>((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds, null)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Whether it ends within that many milliseconds; the work goes on. */
export const endsWithin = async (milliseconds: number, work: Promise<unknown>) =>
  (await within(
    milliseconds,
    work.then(() => true),
  )) !== null

/** Milliseconds of silence after which the engine is asked whether it is there, and those it has to say so. */
const silence = 1000
const pulse = 2000

/** Waits for what the engine is asked as long as that shows any sign of life: a page tells of one that hangs. */
export async function whileAlive<Answer>(
  docker: Pick<Docker, 'info'>,
  asked: Promise<Answer>,
): Promise<Answer> {
  while (!(await endsWithin(silence, asked))) {
    if (await endsWithin(pulse, docker.info())) continue
    asked.catch(() => {}) // nobody waits for it any more
    throw new Failure(
      'engine_timeout',
      'The Docker Engine does not answer.',
      'Look at the load of the machine and the log of the engine (journalctl -u docker).',
    )
  }
  return asked
}
