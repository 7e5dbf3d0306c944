import type { Deps } from '../deps.ts'

type Removing = Pick<Deps, 'docker' | 'collector'>

/** Stops a container, at its own pace where none is given, and removes it when its last lines are kept. */
export async function stopAndRemove(
  { docker, collector }: Removing,
  id: string,
  { timeoutSeconds }: { timeoutSeconds: number | null },
) {
  await docker.stopContainer(id, { timeoutSeconds })
  await collector.finish(id)
  await docker.removeContainer(id, { force: true, volumes: true })
}
