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
  /** The line of the step's output that reports a full disk, a killed process or a missing .git, if any. */
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

const tellingLines =
  /no space left on device|disk quota exceeded|\bkilled$|\bkilled signal\b|signal: killed|SIGKILL|\bError 137$|not a git repository/i

/** True for a line of output that explains a failure, which the exit code often doesn't. */
export const isClue = (text: string) => tellingLines.test(text.trimEnd())
