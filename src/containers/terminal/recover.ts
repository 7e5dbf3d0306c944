import { isEngineAway } from '../../docker/failures.ts'
import { resync } from '../../docker/index.ts'
import type { Docker, EngineFeed, Engines } from '../../docker/index.ts'
import { labelFilter } from '../../docker/labels.ts'
import { report } from '../../platform/journal.ts'

type RecoverDeps = { docker: Docker; engines: Engines; feed: EngineFeed; instanceId: string }

/** Ends programs that still run in terminals after Davit was killed, once the engine can be reached. */
export async function recoverTerminals(
  { docker, engines, feed, instanceId }: RecoverDeps,
  { signal }: { signal: AbortSignal },
) {
  const labels = labelFilter(instanceId)
  for await (const event of feed.listen(signal)) {
    if (event !== resync || engines.isAway(docker)) continue
    try {
      for (const { id } of await docker.listContainers({ labels, signal }))
        await docker.endLeftTerminals(id, { signal }).catch((error) => {
          if (!signal.aborted)
            report('a terminal of the last process may still run', error, { container: id })
        })
      return
    } catch (error) {
      if (signal.aborted) return
      if (isEngineAway(error)) continue // its return is reported
      return report('terminals of the last process were not looked for', error)
    }
  }
}
