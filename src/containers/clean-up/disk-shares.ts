import type { Db, LogDb } from '../../db/index.ts'
import type { DiskUse } from '../../docker/index.ts'
import { databaseBytes } from './disk-store.ts'

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
