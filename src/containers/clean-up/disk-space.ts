import type { Config } from '../../config.ts'
import type { Docker } from '../../docker/index.ts'
import { spaceOf } from '../../platform/disk-space.ts'
import type { DiskSpace } from '../../platform/disk-space.ts'

/** The disk that holds the engine's data, or else Davit's own; null when that is another machine's. */
export async function diskSpace({
  docker,
  config,
}: {
  docker: Docker
  config: Config
}): Promise<DiskSpace | null> {
  if (docker.remote) return null
  const { folder } = await docker.machine()
  return (await spaceOf(folder)) ?? spaceOf(config.dataDir)
}
