import { killed } from '../docker/index.ts'
import type { Container, Docker, HealthVerdict } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import type { ExitExplanation } from './not-executed.ts'
import type { Subject, Words } from './explain.ts'

/** The container that didn't pass its gate, as sentences name it. */
export type Gated = {
  id: string
  subject: Subject
  /** Such as "the app", "the process worker", or the name of a Compose service. */
  name: string
  words: Words
  memoryMb: number
}

/**
 * Explains why a container ended that had to keep running, or failed that had to succeed. Pass the observed
 * exit code: a container that the engine has restarted shows none.
 */
export async function exitFailure(docker: Docker, gated: Gated, seen?: number): Promise<Failure> {
  const { id, subject, name, words } = gated
  const { again } = words
  const container = await docker.inspectEnded(id)
  if (!container)
    return new Failure(
      'container_removed',
      `Start failed: the container of ${name} was removed meanwhile.`,
      `To try again, ${again}.`,
    )
  const lines = await lastLines(docker, id)
  const unknown =
    lines.length > 0 || subject === 'environment'
      ? fixReported(words)
      : `${name} wrote nothing. Check its variables, then ${again}.`
  const { oomKilled } = container
  const exitCode = seen ?? container.exitCode
  const why = await whyEnded(docker, { container, exitCode, oomKilled, lines })
  const failure = endedFailure('Start failed', { ...gated, exitCode, oomKilled, unknown, why })
  const { code, message, hint } = failure
  return oomKilled ? failure : new Failure(code, message, hint + quoted(subject, lines))
}

/** Explains an exit code, using the container's files if its command was never executed. */
export async function whyEnded(
  docker: Docker,
  ended: { container: Container; exitCode: number; oomKilled: boolean; lines: string[] },
) {
  const { container, exitCode, oomKilled } = ended
  const ran = exitCode === 0 || exitCode === killed || oomKilled
  // what can't be read says nothing: the exit code still does
  const { whyNotExecuted } = await import('./not-executed.ts')
  const why = ran ? null : await whyNotExecuted(docker, container, ended).catch(() => null)
  return why ?? knownExits[exitCode]
}

/** `unknown` is the hint when the exit code says nothing. */
export function endedFailure(
  what: string,
  {
    name,
    words,
    memoryMb,
    exitCode,
    oomKilled,
    unknown,
    why = knownExits[exitCode],
  }: Pick<Gated, 'name' | 'words' | 'memoryMb'> & {
    exitCode: number
    oomKilled: boolean
    unknown: string
    why?: ExitExplanation | undefined
  },
): Failure {
  if (oomKilled)
    return new Failure(
      'out_of_memory',
      `${what}: ${name} ran out of memory (exit code ${exitCode}; its limit is ${memoryMb} MiB).`,
      `Raise ${words.memory}, or reduce its memory use.`,
    )
  return new Failure(
    why?.code ?? 'exited',
    `${what}: ${name} exited with code ${exitCode}${why ? `: ${why.what}` : ''}.`,
    why?.hint(words) ?? unknown,
  )
}

export const fixReported = ({ again }: Words) => `Fix what its last lines report, then ${again}.`

const knownExits: Record<number, ExitExplanation> = {
  0: {
    code: 'exited',
    what: 'it finished at once, but must keep running',
    hint: ({ command }) => `Make ${command} run the program in the foreground.`,
  },
  [killed]: {
    code: 'killed',
    what: 'it was killed (SIGKILL), but not for its memory limit',
    hint: ({ again }) =>
      `Someone may have killed it (docker kill), or the server itself was out of memory: see its kernel log (journalctl -k), then ${again}.`,
  },
  126: {
    code: 'not_executable',
    what: 'its command can’t be executed',
    hint: ({ command }) => `Check ${command}: the file must be executable (chmod +x).`,
  },
  127: {
    code: 'command_not_found',
    what: 'its command wasn’t found, or can’t run on this machine',
    hint: ({ command }) =>
      `Check ${command}: the program must be in the image, and built for this processor.`,
  },
}

type SilenceFailureOptions = {
  name: string
  port: number
  path: string | null
  host?: string | undefined
  timeout: number
  lastSeen: string
}

/** For a container that runs but doesn't respond; `timeout` in seconds. */
export function silenceFailure({
  name,
  port,
  path,
  host = 'localhost',
  timeout,
  lastSeen,
}: SilenceFailureOptions) {
  const where = `on port ${port}${path ? `, path ${path}` : ''}`
  return new Failure(
    'no_answer',
    `Start failed: ${name} didn’t respond ${where} within ${timeout} s (last seen: ${lastSeen}).`,
    lastSeen.startsWith('status')
      ? `Make the health path respond with a status below 400 when it is asked for the host ${host}, or choose another path or health host.`
      : 'Make the app listen on 0.0.0.0 and the port in PORT; 127.0.0.1 inside a container can’t be reached. Or set another port, 0 for a worker.',
  )
}

/** In characters. */
const maxQuoted = 300

/** For a container whose health check fails. Without a timeout (in seconds) the engine gave up. */
export async function healthFailure(
  docker: Docker,
  gated: Gated,
  { exitCode, output, timeout }: Omit<HealthVerdict, 'passed'> & { timeout?: number },
) {
  const { subject, name, words } = gated
  const said = output.trim()
  const last = said.split('\n').at(-1)!.trim()
  const facts = [
    exitCode === null ? [] : `exit code ${exitCode}`,
    last.length > maxQuoted ? 'its output is in the log' : last || 'no output',
  ].flat()
  const passed = timeout === undefined ? 'doesn’t pass' : `didn’t pass within ${timeout} s`
  const hint =
    exitCode === 126 || exitCode === 127
      ? 'The command of the health check must be in the image: install it, or use a program that is.'
      : words.health
  const quotedCheck = subject === 'service' && said ? `\nThe health check says:\n${said}` : ''
  return new Failure(
    'unhealthy',
    `Start failed: the health check of ${name} ${passed} (${facts.join(': ')}).`,
    hint + quotedCheck + quoted(subject, await lastLines(docker, gated.id)),
  )
}

/** The last lines usually say why a container ended. */
const fewLines = 8

export async function lastLines(docker: Docker, id: string) {
  const lines: string[] = []
  try {
    for await (const batch of docker.containerLogs(id, { tail: fewLines }))
      lines.push(...batch.map(({ text }) => text))
  } catch {
    // the original failure says more
  }
  return lines
}

/** For a service, whose output is in no deployment log. */
const quoted = (subject: Subject, lines: string[]) =>
  subject === 'environment' || lines.length === 0 ? '' : `\nIts last lines:\n${lines.join('\n')}`
