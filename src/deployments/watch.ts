import { setTimeout as sleep } from 'node:timers/promises'
import { resync } from '../docker/index.ts'
import type { EngineFeed } from '../docker/index.ts'
import { readLabels } from '../docker/labels.ts'
import { report } from '../platform/journal.ts'
import { listDifferent } from '../runtime/reconcile.ts'
import { observe } from './observe.ts'
import type { ObserveDeps } from './observe.ts'

/** Milliseconds before another look at what could not be seen. */
const retryDelay = 1000

/** One that is stopped between two restarts dies no more: it only stops. */
const telling = ['start', 'die', 'stop', 'destroy']

/**
 * Keeps the states of finished deployments true: `running` becomes `stopped` when its container was
 * stopped, exited for good or was removed, by whomever, and `running` again when it was started.
 */
export async function watchContainers(
  deps: ObserveDeps & { feed: EngineFeed },
  { signal }: { signal: AbortSignal },
) {
  const look = (id: string, { orphans }: { orphans: boolean }) =>
    untilSeen(() => observe(deps, id, { orphans, signal }), { environment: id })

  for await (const event of deps.feed.listen(signal)) {
    if (event === resync) {
      const different = await untilSeen(() => listDifferent(deps, 'app', { signal }))
      for (const id of different ?? []) await look(id, { orphans: true })
      continue
    }
    const { instanceId, environmentId } = readLabels(event.attributes)
    if (instanceId === deps.instanceId && environmentId && telling.includes(event.action))
      await look(environmentId, { orphans: false })
  }

  /** What could not be seen is looked at until it can: a state must not stay untrue. */
  async function untilSeen<Result>(work: () => Promise<Result>, fields = {}) {
    for (let quiet = false; !signal.aborted; quiet = true)
      try {
        return await work()
      } catch (error) {
        if (!quiet && !signal.aborted) report('apps were not looked at', error, fields)
        await sleep(retryDelay, undefined, { signal }).catch(() => {})
      }
    return null
  }
}
