import { isEngineAway, waitForEngine } from '../docker/retry-while-engine-down.ts'
import type { Docker } from '../docker/index.ts'

type Step = {
  /** What to say when it does not succeed. */
  failed: string
  work: () => Promise<unknown>
}

type Options = { docker: Docker; shutdown: AbortSignal; log?: ((text: string) => void) | undefined }

/** What takes back the steps that were done, last first. */
export class Undo {
  readonly #steps: Step[] = []

  push(failed: string, work: Step['work']) {
    this.#steps.push({ failed, work })
  }

  /**
   * Each step as soon as the engine responds, whatever became of the one before. Returns what could not
   * be undone; throws when Davit stops while the engine is away: the next process does the rest.
   */
  async run({ log, ...options }: Options) {
    const problems: string[] = []
    for (const { failed, work } of this.#steps.reverse())
      try {
        await untilEngineResponds(options, work)
      } catch (error) {
        if (isEngineAway(error)) throw error
        const problem = `${failed}: ${(error as Error).message}`
        problems.push(problem)
        log?.(problem)
      }
    return problems
  }
}

/** Tries once in any case, and again whenever the engine was away, until Davit stops. */
export async function untilEngineResponds<Result>(
  { docker, shutdown: signal }: Pick<Options, 'docker' | 'shutdown'>,
  work: () => Promise<Result>,
): Promise<Result> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (!isEngineAway(error) || !(await waitForEngine(docker, { signal }))) throw error
    }
}
