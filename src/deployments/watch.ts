import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import { report } from '../journal.ts'
import { labelFilter } from '../projects/labels.ts'
import { observe } from './observe.ts'
import { listInStatus } from './store.ts'

/** Milliseconds before the engine is asked for its events again after the connection ended. */
const retryDelay = 1000

type WatchDeps = Pick<Deps, 'db' | 'docker' | 'instanceId' | 'logs'>

/**
 * Keeps the states of finished deployments true: `running` becomes `stopped` when its container was
 * stopped, exited for good or was removed, by whomever, and `running` again when it was started.
 */
export async function watchContainers(deps: WatchDeps, { signal }: { signal: AbortSignal }) {
  let quiet = false
  while (!signal.aborted) {
    const round = new AbortController()
    try {
      const labels = labelFilter(deps.instanceId)
      const filters = { type: ['container'], event: ['start', 'die', 'destroy'], label: labels }
      const events = deps.docker.events({
        filters,
        signal: AbortSignal.any([signal, round.signal]),
      })
      const listen = () => {
        const next = events.next()
        next.catch(() => {}) // it may fail while a look is taken; who awaits it is told all the same
        return next
      }
      let next = listen() // first, or what happens during the look would be missed
      for (const { environmentId } of listInStatus(deps.db, ['running', 'stopped']))
        await observe(deps, environmentId)
      quiet = false
      for (let event = await next; !event.done; event = await next) {
        next = listen()
        const environmentId = event.value.attributes['davit.environment']
        if (environmentId) await observe(deps, environmentId)
      }
    } catch (error) {
      if (signal.aborted) return
      if (!quiet) report('watching the engine failed', error)
      quiet = true
    } finally {
      round.abort()
    }
    await sleep(retryDelay, undefined, { signal }).catch(() => {})
  }
}
