import { EngineError } from './failures.ts'

type BuildErrorDetails = { step?: string | null; status?: number }

/** A build that the engine refused, or ran and that failed, with the engine's own message. */
export class BuildError extends EngineError {
  /** Such as `[2/3] RUN make` with BuildKit, `Step 2/3 : RUN make` with the classic builder. */
  readonly step: string | null
  /** Of the command of the step, when it was a command that failed. */
  readonly exitCode: number | null

  constructor(message: string, { step = null, status = 500 }: BuildErrorDetails = {}) {
    super(status, message)
    this.step = step
    const code = /exit code: (\d+)|non-zero code: (\d+)/.exec(message)
    this.exitCode = code ? Number(code[1] ?? code[2]) : null
  }
}
