import { buildCaps } from '../../docker/index.ts'
import type { DiskUse, Docker } from '../../docker/index.ts'
import { databaseBytes } from './store.ts'
import type { Opened } from './store.ts'
import type { Config } from '../../config.ts'
import { leastFree, spaceOf } from '../../platform/disk-space.ts'
import type { DiskSpace } from '../../platform/disk-space.ts'

/** In bytes. */
export type DiskShares = {
  images: number
  containers: number
  volumes: number
  buildCache: number
  logs: number
  database: number
}

export const diskShares = (
  { db, logDb }: { db: Opened; logDb: Opened },
  { layersSize, containers, volumes, buildCache }: DiskUse,
): DiskShares => ({
  images: layersSize,
  containers: sum(containers),
  volumes: sum(volumes),
  // shared entries are already counted as images
  buildCache: sum(buildCache.filter(({ shared }) => !shared)),
  logs: databaseBytes(logDb),
  database: databaseBytes(db),
})

const sum = (things: { size: number | null }[]) =>
  things.reduce((total, { size }) => total + (size ?? 0), 0)

/** The disk with the engine's data, or Davit's own if that can't be read; null for a remote engine. */
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

export type BuildLimits = {
  /** In bytes. */
  memory: number
  cpus: number
  /** Bytes that must be free for a build to start; null when the disk is on another machine. */
  free: number | null
  /** Why the engine doesn't limit the memory and processors of builds; null when it does. */
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
