import type { Deps } from '../deps.ts'
import type { Container } from '../docker/index.ts'
import { getCurrent, isSwitching, moveDeployment } from './store.ts'

/**
 * Makes the state of an environment's current deployment say what its container does: `running` or
 * `stopped`. While the containers are switched it is left to the deployment that does it.
 */
export async function observe(
  { db, docker, logs }: Pick<Deps, 'db' | 'docker' | 'logs'>,
  environmentId: string,
) {
  const current = getCurrent(db, environmentId)
  if (!current?.containerId || isSwitching(db, environmentId)) return
  const container = await docker.inspectContainer(current.containerId)
  if (isSwitching(db, environmentId)) return
  const status = finishedStatusOf(container)
  if (status === current.status) return
  if (moveDeployment(db, { id: current.id, from: [current.status], status }))
    logs.publish(current.id, { status })
}

/** What a finished deployment is whose container is in this state, or gone. */
export const finishedStatusOf = (container: Pick<Container, 'state'> | null | undefined) =>
  container && ['running', 'restarting', 'paused'].includes(container.state) ? 'running' : 'stopped'
