import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import { resync } from '../docker/index.ts'
import { report } from '../platform/journal.ts'
import { labelFilter, readLabels } from '../docker/labels.ts'
import { observe, finishedStatusOf } from './observe.ts'
import { listInStatus } from './store.ts'

type WatchDeps = Pick<Deps, 'db' | 'docker' | 'feed' | 'instanceId' | 'logs'>

/** Milliseconds before another look at what could not be seen. */
const retryDelay = 1000

/** One that is stopped between two restarts dies no more: it only stops. */
const telling = ['start', 'die', 'stop', 'destroy']

/**
 * Keeps the states of finished deployments true: `running` becomes `stopped` when its container was
 * stopped, exited for good or was removed, by whomever, and `running` again when it was started.
 */
export async function watchContainers(deps: WatchDeps, { signal }: { signal: AbortSignal }) {
  for await (const event of deps.feed.listen(signal)) {
    if (event === resync) {
      for (const { environmentId } of await listDoubtful(deps)) await look(environmentId)
      continue
    }
    const { instanceId, environmentId } = readLabels(event.attributes)
    if (instanceId === deps.instanceId && environmentId && telling.includes(event.action))
      await look(environmentId)
  }

  /** What could not be seen is looked at until it can: a state must not stay untrue. */
  async function look(environmentId: string) {
    for (let quiet = false; !signal.aborted; quiet = true)
      try {
        return await observe(deps, environmentId)
      } catch (error) {
        if (!quiet) report('an app was not looked at', error, { environment: environmentId })
        await sleep(retryDelay, undefined, { signal }).catch(() => {})
      }
  }
}

/** Those that one look at all containers does not confirm; all of them while the engine can't be asked. */
async function listDoubtful({ db, docker, instanceId }: WatchDeps) {
  const labels = labelFilter(instanceId)
  const containers = await docker.listContainers({ labels, all: true }).catch(() => null)
  const finished = listInStatus(db, ['running', 'stopped'])
  if (!containers) return finished
  const byId = new Map(containers.map((container) => [container.id, container]))
  return finished.filter(
    ({ containerId, status }) => finishedStatusOf(byId.get(containerId ?? '')) !== status,
  )
}
