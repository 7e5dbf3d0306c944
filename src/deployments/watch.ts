import type { Deps } from '../deps.ts'
import { lookAgain } from '../docker/index.ts'
import { report } from '../journal.ts'
import { observe } from './observe.ts'
import { listInStatus } from './store.ts'

type WatchDeps = Pick<Deps, 'db' | 'docker' | 'feed' | 'instanceId' | 'logs'>

const telling = ['start', 'die', 'destroy']

/**
 * Keeps the states of finished deployments true: `running` becomes `stopped` when its container was
 * stopped, exited for good or was removed, by whomever, and `running` again when it was started.
 */
export async function watchContainers(deps: WatchDeps, { signal }: { signal: AbortSignal }) {
  for await (const event of deps.feed.listen(signal)) {
    if (event === lookAgain) {
      for (const { environmentId } of listInStatus(deps.db, ['running', 'stopped']))
        await look(environmentId)
      continue
    }
    const { 'davit.instance': instance, 'davit.environment': environmentId } = event.attributes
    if (instance === deps.instanceId && environmentId && telling.includes(event.action))
      await look(environmentId)
  }

  /** An engine that is away is looked at again when the feed has it back. */
  async function look(environmentId: string) {
    await observe(deps, environmentId).catch((error) => {
      if (!signal.aborted) report('an app was not looked at', error, { environment: environmentId })
    })
  }
}
