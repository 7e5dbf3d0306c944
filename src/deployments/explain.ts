import { diskFull as noRoom, isDiskFull } from '../db/full.ts'
import { roomHint } from '../platform/disk-space.ts'
import { BuildError, EngineError } from '../docker/index.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { buildRules } from './build-rules.ts'
import type { StepName } from './progress.ts'
import { startRules } from './start-rules.ts'

/** From what an engine says to words and a next step; of several that fit the first counts. */
export type Rule = {
  /** Looked for in the engine's own words. */
  seen: RegExp
  code: string
  message: (match: RegExpExecArray, error: Error) => string
  hint: string
}

const diskFull: Rule = {
  seen: /no space left on device|disk quota exceeded/i,
  code: 'disk_full',
  message: () => 'The disk of the server is full.',
  hint: roomHint,
}

const names: Record<StepName, string> = {
  cloning: 'Cloning',
  building: 'Building',
  deploying: 'Starting',
}

/** Turns whatever a step threw into a code, a sentence and a next step. */
export function explain(error: unknown, step: StepName | null): Failure {
  if (error instanceof Failure) return error
  if (isDiskFull(error)) return noRoom(error)
  const name = step ? names[step] : 'Preparing'
  if (error instanceof AppError)
    return new Failure(
      'refused',
      `${name}: ${error.message}`,
      'Change what it names, then try again.',
    )
  if (!(error instanceof EngineError))
    return new Failure(
      'internal',
      `${name}: something went wrong inside Davit.`,
      'Its own log has the details. Trying again can help.',
    )
  for (const rule of [diskFull, ...(step === 'building' ? buildRules : startRules)]) {
    const match = rule.seen.exec(said(error))
    if (match) return new Failure(rule.code, rule.message(match, error), rule.hint)
  }
  return new Failure(
    step === 'building' ? 'build_failed' : 'engine_refused',
    `${name}: the engine says: ${lastLine(inShort(error.message))}.`,
    'The lines above in the log may say more.',
  )
}

/** The engine's words, and the line of a command that says more than its exit code. */
const said = (error: EngineError) =>
  inShort(
    error instanceof BuildError && error.clue ? `${error.message}\n${error.clue}` : error.message,
  )

/** An engine repeats what it was given, however long: patterns look at both ends. */
const inShort = (text: string) =>
  text.length > 4000 ? `${text.slice(0, 1000)} … ${text.slice(-3000)}` : text

/** Without the layers of software that it came through. */
const lastLine = (text: string) =>
  text
    .trim()
    .split('\n')
    .at(-1)!
    .replace(/^(failed to [^:]+: )+/, '')
    .replace(/\.+$/, '')
