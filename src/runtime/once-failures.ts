import { Failure } from '../platform/errors.ts'
import { words } from './explain.ts'
import { endedFailure, fixReported } from './gate-failures.ts'
import type { ExitExplanation } from './not-executed.ts'

/** It exited by itself. */
export type Ended = { exitCode: number; oomKilled: boolean; why?: ExitExplanation | undefined }

export type OnceSubject = keyof typeof named

/** `what` is the start of the failure's message. */
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
    `${named[subject].what}: it didn’t end within ${seconds.toLocaleString('en')} s, and was stopped.`,
    longer[subject],
  )

export const wasRemoved = (subject: OnceSubject) =>
  new Failure(
    'container_removed',
    `${named[subject].what}: its container was removed before it ended.`,
    `To try again, ${words[subject].again}.`,
  )

export const beingRestored = (subject: OnceSubject) =>
  new Failure(
    'being_restored',
    `${named[subject].what}: a backup is being restored, and nothing may write to its volumes now.`,
    `Once that has ended, ${words[subject].again}.`,
  )

/** Explains why a command that exited by itself failed; null when it succeeded. */
export function endFailure(
  subject: OnceSubject,
  ended: Ended,
  { memoryBytes }: { memoryBytes: number },
): Failure | null {
  if (ended.exitCode === 0) return null
  const memoryMb = Math.round(memoryBytes / 1024 / 1024)
  const said = words[subject]
  const unknown = fixReported(said)
  const of = { name: 'it', words: said, memoryMb, unknown }
  return endedFailure(named[subject].what, { ...ended, ...of })
}
