import type { Docker, EngineFeed } from '../docker/index.ts'
import { report } from '../platform/journal.ts'
import { LiveLog } from './live-log.ts'
import type { LogSource } from './log-read.ts'

type Open = { log: LiveLog; viewers: number; stop: AbortController }

/** The logs that someone watches, each followed once. */
export class LiveLogs {
  readonly #open = new Map<string, Open>()
  readonly #deps: { docker: Docker; feed: EngineFeed }

  constructor(deps: { docker: Docker; feed: EngineFeed }) {
    this.#deps = deps
  }

  /** Logs that are followed. */
  get size() {
    return this.#open.size
  }

  /** The log of a container, followed until the signal of its last viewer. */
  watch(source: LogSource, signal: AbortSignal): LiveLog {
    const open = this.#open.get(source.id)
    const watched = open && !open.log.ended ? open : this.#start(source)
    watched.viewers++
    signal.addEventListener('abort', () => this.#leave(source.id, watched), { once: true })
    return watched.log
  }

  #start(source: LogSource) {
    const stop = new AbortController()
    const log = new LiveLog(this.#deps, source, stop.signal)
    const open = { log, viewers: 0, stop }
    this.#open.set(source.id, open)
    log.run().catch((error) => report('following a log failed', error, { container: source.id }))
    return open
  }

  #leave(id: string, watched: Open) {
    if (--watched.viewers > 0) return
    watched.stop.abort()
    if (this.#open.get(id) === watched) this.#open.delete(id)
  }
}
