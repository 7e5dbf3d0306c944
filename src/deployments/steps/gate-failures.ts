import { killed } from '../../docker/index.ts'
import type { HealthVerdict } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import type { Environment } from '../../environments/store.ts'
import { within } from '../../web/within.ts'
import type { Run } from '../run.ts'

/** Milliseconds in which the last output of a container that ended reaches us. */
const lastWords = 2000

/** Why a container that ended did not pass the gate; its output is in the log by then. */
export async function exitFailure(
  { docker, environment }: Run,
  { id, output }: { id: string; output: Promise<void> },
): Promise<Failure> {
  await within(lastWords, output)
  const container = await docker.inspectEnded(id)
  const code = container?.exitCode ?? 0
  if (container?.oomKilled)
    return new Failure(
      'out_of_memory',
      `Starting: the app ran out of memory (exit code ${code}; its limit is ${environment.memoryMb} MB).`,
      'Raise the memory of the environment, or make the app need less.',
    )
  const known = exits[code]
  return new Failure(
    known?.code ?? 'exited',
    `Starting: the app ended with exit code ${code}${known ? `: ${known.what}` : ''}.`,
    known?.hint ?? 'Its last lines are in the log below: fix what they report, then deploy again.',
  )
}

const exits: Record<number, { code: string; what: string; hint: string }> = {
  0: {
    code: 'exited',
    what: 'it finished at once, though an app has to keep running',
    hint: 'Let the CMD of the Dockerfile start the app in the foreground.',
  },
  [killed]: {
    code: 'killed',
    what: 'it was killed (SIGKILL), but not for its memory limit',
    hint: 'Someone may have killed it (docker kill), or the server itself was out of memory: see its kernel log (journalctl -k), then deploy again.',
  },
  126: {
    code: 'not_executable',
    what: 'its command can not be executed',
    hint: 'Give the file that CMD or ENTRYPOINT names the right to execute (chmod +x).',
  },
  127: {
    code: 'command_not_found',
    what: 'its command was not found, or can not run on this machine',
    hint: 'Check CMD and ENTRYPOINT in the Dockerfile: the program they name must be in the image, and for this processor.',
  },
}

/** Why a container that runs but does not answer did not pass the gate. */
export function silenceFailure(
  { healthPath, healthTimeout }: Environment,
  { port, lastSeen }: { port: number; lastSeen: string },
) {
  const where = port > 0 ? ` on port ${port}${healthPath ? `, path ${healthPath}` : ''}` : ''
  return new Failure(
    'no_answer',
    `Starting: the app did not answer${where} within ${healthTimeout} s (last seen: ${lastSeen}).`,
    lastSeen.startsWith('status')
      ? 'Let the health path answer with a status below 400, or choose another one in the environment.'
      : "Let the app listen on 0.0.0.0 and the port in PORT; 127.0.0.1 inside a container answers nobody. Or set the environment's port, 0 for a worker.",
  )
}

/** Characters of a line that a message quotes. */
const maxQuoted = 300

/** Why a container whose HEALTHCHECK does not pass did not pass the gate; its output goes to the log. */
export function healthFailure(
  { environment, log }: Pick<Run, 'environment' | 'log'>,
  { exitCode, output }: HealthVerdict,
) {
  const lines = output.split('\n').flatMap((line) => line.trim() || [])
  if (lines.length > 0) log('The last output of its HEALTHCHECK:')
  for (const line of lines) log(line, 'stderr')
  const last = lines.at(-1)
  const facts = [
    exitCode === null ? [] : `exit code ${exitCode}`,
    last === undefined ? 'no output' : last.length > maxQuoted ? 'its output is in the log' : last,
  ].flat()
  return new Failure(
    'unhealthy',
    `Starting: the image's HEALTHCHECK did not pass within ${environment.healthTimeout} s (${facts.join(': ')}).`,
    exitCode === 126 || exitCode === 127
      ? 'The command of the HEALTHCHECK must be in the image: install it in the Dockerfile, or check with a program that is there.'
      : 'Fix what the HEALTHCHECK reports, give the app longer with the health timeout of the environment, or remove the HEALTHCHECK from the Dockerfile.',
  )
}
