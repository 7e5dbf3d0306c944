import type { Docker } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import { endsWithin } from './within.ts'

/** Milliseconds of silence after which the engine is asked whether it is there, and those it has to say so. */
const patience = 1000
const pulse = 2000

/** Waits for what the engine is asked as long as that shows any sign of life: a page tells of one that hangs. */
export async function whileAlive<Answer>(
  docker: Pick<Docker, 'info'>,
  asked: Promise<Answer>,
): Promise<Answer> {
  while (!(await endsWithin(patience, asked))) {
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
