import type { Docker, RestartPolicy } from '../docker/index.ts'
import { isUp } from './workload.ts'

/** A container's state before it was stopped. */
type FrozenContainer = {
  id: string
  serverId: string
  name: string
  policy: RestartPolicy
  /** False when it only had to be kept from being started by Docker. */
  wasUp: boolean
}

type Freezing = Pick<FrozenContainer, 'id' | 'policy' | 'wasUp'>

/** Only includes containers that run, or that Docker may start. */
export async function standingOf(docker: Docker, ids: string[]): Promise<FrozenContainer[]> {
  const found = await Promise.all(ids.map((id) => docker.inspectContainer(id)))
  return found.flatMap((one) =>
    one && (isUp(one) || one.restartPolicy.name !== 'no')
      ? {
          id: one.id,
          serverId: one.serverId,
          name: one.name,
          policy: one.restartPolicy,
          wasUp: isUp(one),
        }
      : [],
  )
}

/** Uses its own stop timeout. Docker doesn't start it again, not even at boot. */
export async function freeze(docker: Docker, { id, policy, wasUp }: Freezing) {
  // an engine that starts also starts stopped containers with the policy always or a failed exit
  if (policy.name !== 'no') await docker.setRestartPolicy(id, { name: 'no' })
  if (wasUp) await docker.stopContainer(id)
}

/** Reverts `freeze` in any state; does nothing when the container was removed meanwhile. */
export async function startAgain(docker: Docker, { id, policy, wasUp }: Freezing) {
  const found = await docker.inspectContainer(id)
  if (!found) return
  if (found.restartPolicy.name !== policy.name) await docker.setRestartPolicy(id, policy)
  if (wasUp && !isUp(found)) await docker.startContainer(id)
}

/**
 * The policy of a container while it is stopped, where Docker would start it at its own start in spite of that. With
 * `unless-stopped` it is restarted as before, should it run.
 */
const whileStopped: Partial<Record<RestartPolicy['name'], RestartPolicy>> = {
  always: { name: 'unless-stopped' },
  'on-failure': { name: 'no' },
}

/** Lets a stopped container stay so when Docker starts. Call it after the stop: while it runs, its policy is restored. */
export async function stayStopped(docker: Docker, id: string) {
  const found = await docker.inspectContainer(id)
  const policy = found?.state === 'exited' ? whileStopped[found.restartPolicy.name] : undefined
  if (policy) await docker.setRestartPolicy(id, policy)
}

/** True for a container whose policy isn't its own: it was stopped, or its start wasn't to be repeated. */
export const isPolicyLent = (now: RestartPolicy, own: RestartPolicy) =>
  now.name !== own.name && (now.name === 'no' || now.name === whileStopped[own.name]?.name)
