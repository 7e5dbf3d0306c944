import type { Deps } from '../deps.ts'

/** Stops a container and removes it when its last lines are kept. */
export async function retire(
  { docker, collector }: Pick<Deps, 'docker' | 'collector'>,
  id: string,
  { timeoutSeconds }: { timeoutSeconds: number },
) {
  await docker.stopContainer(id, { timeoutSeconds })
  await collector.finish(id)
  await docker.removeContainer(id, { force: true })
}
