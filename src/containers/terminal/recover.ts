import type { Docker } from '../../docker/index.ts'
import { labelFilter } from '../../docker/labels.ts'
import { retryWhileEngineDown } from '../../docker/retry-while-engine-down.ts'
import { report } from '../../platform/journal.ts'

/** Ends programs that still run in terminals after Davit was killed. */
export async function recoverTerminals(
  { docker, instanceId }: { docker: Docker; instanceId: string },
  { signal }: { signal: AbortSignal },
) {
  const options = { signal, failed: 'terminals of the last process were not looked for' }
  await retryWhileEngineDown(docker, options, async () => {
    for (const { id } of await docker.listContainers({ labels: labelFilter(instanceId), signal }))
      await docker.endLeftTerminals(id, { signal }).catch((error) => {
        if (!signal.aborted)
          report('a terminal of the last process may still run', error, { container: id })
      })
  })
}
