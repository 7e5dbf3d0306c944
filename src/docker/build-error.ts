import { EngineError } from './failures.ts'

type BuildErrorDetails = { step?: string | null; clue?: string | null; status?: number }

/** A build that the engine refused, or ran and that failed, with the engine's own message. */
export class BuildError extends EngineError {
  /** Such as `[2/3] RUN make` with BuildKit, `Step 2/3 : RUN make` with the classic builder. */
  readonly step: string | null
  /** Of the command of the step, when it was a command that failed. */
  readonly exitCode: number | null
  /** The line of the step's output that tells of a full disk or a killed process, if there was one. */
  readonly clue: string | null
  /** Bytes of memory that the build was held to; null when it was held to none. */
  memoryCap: number | null = null

  constructor(message: string, { step = null, clue = null, status = 500 }: BuildErrorDetails = {}) {
    super(status, message)
    this.step = step
    const code = /exit code: (\d+)|non-zero code: (\d+)/.exec(message)
    this.exitCode = code ? Number(code[1] ?? code[2]) : null
    this.clue = this.exitCode === null ? null : clue
  }
}

const telling =
  /no space left on device|disk quota exceeded|\bkilled$|\bkilled signal\b|signal: killed|SIGKILL|\bError 137$/i

/** Whether a line of a step's output tells why it may fail, which its exit code often does not. */
export const isClue = (text: string) => telling.test(text.trimEnd())
