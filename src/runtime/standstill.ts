import type { Docker, RestartPolicy } from '../docker/index.ts'
import { isUp } from './workload.ts'

/** A container as it was before it was stopped. */
export type Standing = {
  id: string
  name: string
  policy: RestartPolicy
  /** Else it is only kept from being started by Docker. */
  wasUp: boolean
}

/** What is needed to put those back that run now, or that Docker may start; the others are left out. */
export async function standingOf(docker: Docker, ids: string[]): Promise<Standing[]> {
  const found = await Promise.all(ids.map((id) => docker.inspectContainer(id)))
  return found.flatMap((one) =>
    one && (isUp(one) || one.restartPolicy.name !== 'no')
      ? { id: one.id, name: one.name, policy: one.restartPolicy, wasUp: isUp(one) }
      : [],
  )
}

/** Stops it with its own timeout. Docker doesn't start it again, not even at boot. */
export async function standStill(docker: Docker, { id, policy, wasUp }: Standing) {
  // at its start an engine starts also what was stopped, where the policy is always or its exit was a failure
  if (policy.name !== 'no') await docker.setRestartPolicy(id, { name: 'no' })
  if (wasUp) await docker.stopContainer(id)
}

/** Undoes that, in whatever state it is; nothing when it was removed meanwhile. */
export async function startAgain(docker: Docker, { id, policy, wasUp }: Standing) {
  const found = await docker.inspectContainer(id)
  if (!found) return
  if (found.restartPolicy.name !== policy.name) await docker.setRestartPolicy(id, policy)
  if (wasUp && !isUp(found)) await docker.startContainer(id)
}

/** An empty volume in place of one of that name; its folder on this machine. */
export async function emptyVolume(
  docker: Docker,
  { name, labels }: { name: string; labels: Record<string, string> },
): Promise<string> {
  await docker.removeVolume(name)
  await docker.createVolume({ name, labels })
  const folder = await docker.volumeFolder(name)
  if (folder === null) throw new Error(`the volume ${name} was removed while it was created`)
  return folder
}
