import type { Docker } from '../docker/index.ts'

type Removing = {
  docker: Docker
  /** Resolves when what a container wrote is stored. */
  collector: { finish: (containerId: string) => Promise<void> }
}

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
