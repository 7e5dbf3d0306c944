import { setTimeout as sleep } from 'node:timers/promises'
import { report, reportEngineBack } from '../platform/journal.ts'
import { Hub, resync } from '../live/hub.ts'
import type { EngineEvent } from './events.ts'
import type { Docker } from './index.ts'

/** Milliseconds before the engine is asked for its events again after the connection ended. */
const retryDelay = 1000

const channel = 'containers'

/** What happens to containers on the engine, heard over one connection and told to all who listen. */
export class EngineFeed {
  readonly #hub = new Hub<EngineEvent | typeof resync>()

  /** Begins with `resync` (look at the engine itself), which comes again when events may have been missed. */
  listen(signal: AbortSignal) {
    return this.#hub.follow(channel, signal)
  }

  /** Keeps the connection until the signal; an engine that is away is waited for. */
  async run(docker: Pick<Docker, 'events'>, { signal }: { signal: AbortSignal }) {
    const heard = new Heard()
    const opened = () => {
      reportEngineBack()
      this.#hub.publish(channel, resync)
    }
    while (!signal.aborted) {
      try {
        const filters = { type: ['container'] }
        const events = docker.events({ filters, since: heard.until, signal, opened })
        for await (const event of events) if (heard.isNew(event)) this.#hub.publish(channel, event)
      } catch (error) {
        if (signal.aborted) return
        report('watching the engine failed', error)
      }
      await sleep(retryDelay, undefined, { signal }).catch(() => {})
    }
  }
}

/** How far the engine was heard, so that one who asks again misses nothing and hears nothing twice. */
class Heard {
  /** The last event's time; the engine is asked from there on, that millisecond included. */
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
