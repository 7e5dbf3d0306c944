import { Failure } from '../platform/errors.ts'
import { endsWithin } from '../platform/pause.ts'
import type { Docker } from './index.ts'

/** Milliseconds without a response after which the engine is pinged, and the ping's timeout. */
const silence = 1000
const pulse = 2000

/** Waits for an engine call while the engine responds to pings. Throws a Failure when it hangs. */
export async function whileAlive<Answer>(
  docker: Pick<Docker, 'info'>,
  asked: Promise<Answer>,
): Promise<Answer> {
  while (!(await endsWithin(silence, asked))) {
    if (await endsWithin(pulse, docker.info())) continue
    asked.catch(() => {}) // no one waits for it any more
    throw new Failure(
      'engine_timeout',
      'Docker doesn’t respond.',
      'Check the load of the machine and Docker’s log (journalctl -u docker).',
    )
  }
  return asked
}
