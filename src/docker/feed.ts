import { report, reportEngineBack } from '../platform/journal.ts'
import { sleepUpTo } from '../platform/pause.ts'
import { Hub, resync } from '../live/hub.ts'
import type { EngineEvent, EventOptions } from './events.ts'

/** Milliseconds before reconnecting to the engine's events. */
const retryDelay = 1000

const channel = 'containers'

/** Milliseconds in which engines are announced together: who is told looks at all of them. */
const together = 2000

type EventSource = {
  serverId?: string
  events(options: EventOptions): AsyncIterable<EngineEvent>
}

type FeedOptions = {
  signal: AbortSignal
  changed?: (isOpen: boolean) => void
  maxDelay?: number
}

/** Receives the engine's container events over one connection and passes them to all subscribers. */
export class EngineFeed {
  readonly #hub = new Hub<EngineEvent | typeof resync>()
  #last: { serverId: string | undefined; at: number } | null = null
  #isDue = false

  /** Begins with `resync` (read the engine's state), which is repeated when events may have been missed. */
  listen(signal: AbortSignal) {
    return this.#hub.follow(channel, signal)
  }

  /** Keeps the connection until the signal; waits for an unreachable engine, at most `maxDelay` ms between tries. */
  async run(docker: EventSource, { signal, changed, maxDelay = retryDelay }: FeedOptions) {
    const heard = new Heard()
    let isReported = false
    let delay = retryDelay
    const opened = () => {
      isReported = false
      delay = retryDelay
      reportEngineBack()
      changed?.(true)
      this.#announce(docker)
    }
    while (!signal.aborted) {
      try {
        const filters = { type: ['container'] }
        const events = docker.events({ filters, since: heard.until, signal, opened })
        for await (const event of events) if (heard.isNew(event)) this.#hub.publish(channel, event)
      } catch (error) {
        if (signal.aborted) return
        if (!isReported) report('watching Docker’s events failed', error)
        isReported = true
        changed?.(false)
      }
      await sleepUpTo(delay, signal)
      delay = Math.min(delay * 2, maxDelay)
    }
  }

  /** At once, unless that of another server was a moment ago. */
  #announce({ serverId }: EventSource) {
    if (this.#isDue) return
    const announce = () => {
      this.#isDue = false
      this.#last = { serverId, at: performance.now() }
      this.#hub.publish(channel, resync)
    }
    const last = this.#last
    const wait = last && last.serverId !== serverId ? last.at + together - performance.now() : 0
    if (wait <= 0) return announce()
    this.#isDue = true
    setTimeout(announce, wait).unref()
  }
}

/** The position in the engine's events, so that a reconnect misses nothing and repeats nothing. */
class Heard {
  /** The last event's time; the next request starts there, that millisecond included. */
  until = new Date()
  #then = new Set<string>()

  isNew({ id, action, time }: EngineEvent) {
    const what = `${id} ${action}`
    if (time < this.until) return true
    if (time > this.until) this.#then.clear()
    this.until = time
    if (this.#then.has(what)) return false
    this.#then.add(what)
    return true
  }
}
