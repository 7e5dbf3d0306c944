import type { Db, LogDb } from '../../db/index.ts'
import type { DiskUse, Docker } from '../../docker/index.ts'
import { databaseBytes } from './store.ts'
import type { Config } from '../../config.ts'
import { spaceOf } from '../../platform/disk-space.ts'
import type { DiskSpace } from '../../platform/disk-space.ts'

/** What takes the disk, in bytes. */
export type DiskShares = {
  images: number
  containers: number
  volumes: number
  buildCache: number
  /** Log lines that Davit keeps. */
  logs: number
  database: number
}

export const diskShares = (
  { db, logDb }: { db: Db; logDb: LogDb },
  { layersSize, containers, volumes, buildCache }: DiskUse,
): DiskShares => ({
  images: layersSize,
  containers: sum(containers),
  volumes: sum(volumes),
  // what is part of an image as well is counted there
  buildCache: sum(buildCache.filter(({ shared }) => !shared)),
  logs: databaseBytes(logDb),
  database: databaseBytes(db),
})

const sum = (things: { size: number | null }[]) =>
  things.reduce((total, { size }) => total + (size ?? 0), 0)

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
