import { AppError, Failure } from '../platform/errors.ts'
import { unlessAborted } from '../platform/pause.ts'

/** Seconds in which someone has to attach to a run that waits for them. */
const attachWithin = 60

type Start = {
  /** The container, which doesn't run yet. */
  created: PromiseWithResolvers<string>
  attached: PromiseWithResolvers<void>
  started: PromiseWithResolvers<void>
}

/**
 * Matches runs that wait for a client before they start, so that no output is lost, with
 * clients that wait for a run to start.
 */
export class Starts {
  readonly #starts = new Map<string, Start>()

  /** For a client of a run that hasn't ended: the container, as soon as there is one. */
  created(runId: string) {
    return this.#of(runId).created.promise
  }

  /** A client receives output from now on; resolves when the run has started, even if it ended meanwhile. */
  async attach(runId: string) {
    const start = this.#starts.get(runId)
    start?.attached.resolve()
    await start?.started.promise
  }

  /** For the run: resolves when a client has attached. */
  async waitForClient(runId: string, containerId: string, signal: AbortSignal) {
    const { created, attached } = this.#of(runId)
    created.resolve(containerId)
    const over = AbortSignal.timeout(attachWithin * 1000)
    await unlessAborted(attached.promise, AbortSignal.any([signal, over])).catch((error) => {
      throw over.aborted && !signal.aborted ? noClient() : error
    })
  }

  started(runId: string, containerId: string) {
    const { created, started } = this.#of(runId)
    created.resolve(containerId)
    started.resolve()
  }

  /** It has ended, or is left to the next process: rejects those who wait for it. */
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
