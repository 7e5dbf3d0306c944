import { EngineError } from './failures.ts'

export type BuildOutput =
  | { kind: 'line'; stream: 'system' | 'stdout' | 'stderr'; text: string }
  | { kind: 'image'; id: string }
  /** Yielded at most once, when the caps can't be enforced. */
  | { kind: 'uncapped'; why: string }

type BuildErrorDetails = { step?: string | null; clue?: string | null; status?: number }

/** A failed or refused build, with the engine's message. */
export class BuildError extends EngineError {
  /** Such as `[2/3] RUN make` with BuildKit, `Step 2/3 : RUN make` with the classic builder. */
  readonly step: string | null
  /** Null unless a command of the step failed. */
  readonly exitCode: number | null
  /** The line of the step's output that explains the failure, if any. */
  readonly clue: string | null
  /** The memory limit of the build in bytes; null without one. */
  memoryCap: number | null = null

  constructor(message: string, { step = null, clue = null, status = 500 }: BuildErrorDetails = {}) {
    super(status, message)
    this.step = step
    const code = /exit code: (\d+)|non-zero code: (\d+)/.exec(message)
    this.exitCode = code ? Number(code[1] ?? code[2]) : null
    this.clue = this.exitCode === null ? null : clue
  }
}

/** What programs of a build say about its input, each in words of its own. */
export const saidOf = {
  /** npm, pnpm, Yarn 1, Yarn 4 and Bun, Deno and Pipenv, Cargo, uv, Poetry, PDM, Bundler, Composer, Go. */
  outdatedLock:
    /package-lock\.json.{0,60} are in sync|ERR_PNPM_OUTDATED_LOCKFILE|lock ?file needs to be updated|lockfile (?:would have been modified|had changes)|(?:lockfile|Pipfile\.lock).{0,40} is out of date|(?:the|update the) lock file \S+ (?:needs to be updated|because --locked)|lockfile at \S+ needs to be updated|since poetry\.lock was last generated|lock file hash doesn't match|the lockfile can't be updated|inconsistent vendoring|is not present in the lock file|missing go\.sum entry/i,
  missingVariable:
    /\b(?:missing|cannot resolve|invalid|undefined|required)\b.{0,40}\benv(?:ironment)? variables?\b|\benv(?:ironment)? variables?\b.{0,80}\b(?:missing|not (?:set|defined|found|provided)|(?:is|are) (?:undefined|required)|must be (?:set|defined))\b/i,
}

const tellingLines = [
  /no space left on device|disk quota exceeded|\bkilled$|\bkilled signal\b|signal: killed|SIGKILL|\bError 137$|not a git repository/i,
  ...Object.values(saidOf),
]

/** True for a line of output that explains a failure, which the exit code often doesn't. */
export const isClue = (text: string) => {
  const line = text.trimEnd()
  return tellingLines.some((telling) => telling.test(line))
}
