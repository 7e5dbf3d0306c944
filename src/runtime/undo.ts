import { isEngineAway } from '../docker/failures.ts'
import { untilEngineResponds } from '../docker/retry-while-engine-down.ts'
import type { Docker } from '../docker/index.ts'

type Step = {
  /** The message when this step fails. */
  failed: string
  work: () => Promise<unknown>
}

type Options = { docker: Docker; shutdown: AbortSignal; log?: ((text: string) => void) | undefined }

/** Runs the undo steps of what was done, last first. */
export class Undo {
  readonly #steps: Step[] = []

  push(failed: string, work: Step['work']) {
    this.#steps.push({ failed, work })
  }

  /**
   * Runs each step as soon as the engine responds, even if the previous one failed. Returns what couldn't be
   * undone, such as at another server that stays away; throws when Davit stops while the engine is unreachable:
   * the next process does the rest.
   */
  async run({ log, ...options }: Options) {
    const problems: string[] = []
    for (const { failed, work } of this.#steps.reverse())
      try {
        await untilEngineResponds(options, work)
      } catch (error) {
        if (isEngineAway(error) && options.shutdown.aborted) throw error
        const problem = `${failed}: ${(error as Error).message}`
        problems.push(problem)
        log?.(problem)
      }
    return problems
  }
}
