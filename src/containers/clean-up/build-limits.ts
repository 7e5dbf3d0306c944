import type { Config } from '../../config.ts'
import { leastFree } from '../../platform/disk-space.ts'
import type { DiskSpace } from '../../platform/disk-space.ts'
import { buildCaps } from '../../docker/index.ts'
import type { Docker } from '../../docker/index.ts'

export type BuildLimits = {
  /** Bytes, and processors, that one build may use. */
  memory: number
  cpus: number
  /** Bytes that must be free for a build to begin; null when the disk is another machine's. */
  free: number | null
  /** Why the engine does not hold builds to memory and processors; null when it does. */
  uncapped: string | null
}

export async function buildLimits(
  { docker, config }: { docker: Docker; config: Config },
  { space, signal }: { space: DiskSpace | null; signal: AbortSignal },
): Promise<BuildLimits> {
  const [machine, uncapped] = await Promise.all([
    docker.machine({ signal }),
    docker.whyUncapped({ builder: config.builder, signal }),
  ])
  const { memoryBytes: memory, cpus } = buildCaps(config, machine)
  return { memory, cpus, free: space && leastFree(space), uncapped }
}
