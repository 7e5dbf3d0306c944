import type { ContainerKey } from '../docker/index.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { unlessAborted } from '../platform/pause.ts'

/** Seconds within which someone has to attach to a run that waits for it. */
const attachWithin = 60

type Start = {
  /** Resolves with the container, before it runs. */
  created: PromiseWithResolvers<ContainerKey>
  attached: PromiseWithResolvers<void>
  started: PromiseWithResolvers<void>
  /** True while no client has its input. */
  hasInput: boolean
}

/** Matches runs that wait for a client before they start, to lose no output, with their clients. */
export class Starts {
  readonly #starts = new Map<string, Start>()

  /** Call it for a run that hasn't ended. Resolves with its container as soon as there is one. */
  created(runId: string) {
    return this.#of(runId).created.promise
  }

  /** True for the first client of a run that waits for one; the others only watch. */
  takeInput(runId: string) {
    const start = this.#starts.get(runId)
    const isFirst = start?.hasInput === true
    if (isFirst) start.hasInput = false
    return isFirst
  }

  /** The client that took it couldn't attach: the next one can take it. */
  giveInputBack(runId: string) {
    const start = this.#starts.get(runId)
    if (start) start.hasInput = true
  }

  /**
   * A client receives output from now on, and may be the one that the run waits for. Resolves when the run has
   * started, even if it ended meanwhile.
   */
  async attach(runId: string, { isAwaited }: { isAwaited: boolean }) {
    const start = this.#starts.get(runId)
    if (isAwaited) start?.attached.resolve()
    await start?.started.promise
  }

  async waitForClient(runId: string, container: ContainerKey, signal: AbortSignal) {
    const start = this.#of(runId)
    const { created, attached } = start
    start.hasInput = true
    created.resolve(container)
    const over = AbortSignal.timeout(attachWithin * 1000)
    await unlessAborted(attached.promise, AbortSignal.any([signal, over])).catch((error) => {
      throw over.aborted && !signal.aborted ? noClient() : error
    })
  }

  started(runId: string, container: ContainerKey) {
    const { created, started } = this.#of(runId)
    created.resolve(container)
    started.resolve()
  }

  /** Call it when the run has ended or is left to the next process: rejects those who wait for it. */
  over(runId: string) {
    const start = this.#starts.get(runId)
    this.#starts.delete(runId)
    for (const { reject } of start ? [start.created, start.started] : [])
      reject(new AppError('conflict', 'This run ended before you could attach to it.'))
  }

  #of(runId: string): Start {
    const known = this.#starts.get(runId)
    if (known) return known
    const start: Start = {
      created: Promise.withResolvers(),
      attached: Promise.withResolvers(),
      started: Promise.withResolvers(),
      hasInput: false,
    }
    for (const { promise } of [start.created, start.started]) promise.catch(() => {}) // no one may wait
    this.#starts.set(runId, start)
    return start
  }
}

const noClient = () =>
  new Failure(
    'not_attached',
    `Run failed: no one attached to it within ${attachWithin} s.`,
    'Open its page, or attach to it, right after you start it. Without attach it starts at once.',
  )
