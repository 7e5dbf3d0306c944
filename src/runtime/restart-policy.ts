import type { Container } from '../docker/index.ts'
import { report } from '../platform/journal.ts'
import { openComponents } from './component.ts'
import { getLiveRelease } from './store.ts'
import type { Instance } from './store.ts'
import type { WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

/**
 * Restores the restart policy of a running container after an interrupted restart: during its gate it has
 * none, so that a crash ends it.
 */
export async function restoreRestartPolicy(
  { db, docker, secrets }: RuntimeDeps,
  { id: workloadId }: WorkloadKey,
  { instance, container }: { instance: Instance; container: Container },
) {
  if (container.restartPolicy.name !== 'no') return
  const components = openComponents(secrets, getLiveRelease(db, workloadId)) ?? []
  const policy = components.find(({ name }) => name === instance.component)?.options.restart
  if (!policy || policy.name === 'no') return
  try {
    await docker.setRestartPolicy(container.id, policy)
  } catch (error) {
    report('a container has no restart policy for now', error, { id: container.id })
  }
}
