import { Failure } from '../platform/errors.ts'
import { words } from './explain.ts'
import { knownExits } from './gate-failures.ts'

/** A release command, or a run. */
export type OnceSubject = keyof typeof named

/** How their failures begin. */
export const named = {
  release: { subject: 'release', what: 'Release command failed' },
  run: { subject: 'run', what: 'Run failed' },
} as const

const longer = {
  release: 'Make it quicker, or raise the release timeout of the environment.',
  run: 'Make it quicker, or run it again with a longer timeout.',
}

export const tookTooLong = (subject: OnceSubject, seconds: number) =>
  new Failure(
    'timeout',
    `${named[subject].what}: it didn't end within ${seconds.toLocaleString('en')} s, and was stopped.`,
    longer[subject],
  )

export const wasRemoved = (subject: OnceSubject) =>
  new Failure(
    'container_removed',
    `${named[subject].what}: its container was removed before it ended.`,
    `To try again, ${words[subject].again}.`,
  )

/** Why a command that came to its end by itself failed; null where it succeeded. */
export function endFailure(
  subject: OnceSubject,
  { exitCode, oomKilled }: { exitCode: number; oomKilled: boolean },
  { memoryBytes }: { memoryBytes: number },
): Failure | null {
  if (exitCode === 0) return null
  const { what } = named[subject]
  const { again, memory } = words[subject]
  const memoryMb = Math.round(memoryBytes / 1024 / 1024)
  if (oomKilled)
    return new Failure(
      'out_of_memory',
      `${what}: it ran out of memory (exit code ${exitCode}; its limit is ${memoryMb} MB).`,
      `Raise ${memory}, or make the command need less.`,
    )
  const known = knownExits[exitCode]
  return new Failure(
    known?.code ?? 'exited',
    `${what}: it exited with code ${exitCode}${known ? `: ${known.what}` : ''}.`,
    known?.hint(words[subject]) ?? `Fix what its last lines report, then ${again}.`,
  )
}
