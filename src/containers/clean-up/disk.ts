import { buildCaps } from '../../docker/index.ts'
import type { DiskUse, Docker } from '../../docker/index.ts'
import { databaseBytes, ownersOf } from './store.ts'
import type { Opened } from './store.ts'
import type { OtherServer } from './kinds.ts'
import type { Config } from '../../config.ts'
import { leastFree, spaceOf } from '../../platform/disk-space.ts'
import type { DiskSpace } from '../../platform/disk-space.ts'
import type { Db } from '../../db/index.ts'
import { readLabels } from '../../docker/labels.ts'

/** In bytes. */
export type DiskShares = {
  images: number
  containers: number
  volumes: number
  buildCache: number
  logs: number
  database: number
}

type EngineShares = Omit<DiskShares, 'logs' | 'database'>

/** Another server; its use is null until it was measured, and while it is away. */
export type OtherDisk = OtherServer & { use: EngineShares | null; space: DiskSpace | null }

export const engineShares = ({
  layersSize,
  containers,
  volumes,
  buildCache,
}: DiskUse): EngineShares => ({
  images: layersSize,
  containers: sum(containers),
  volumes: sum(volumes),
  // shared entries are already counted as images
  buildCache: sum(buildCache.filter(({ shared }) => !shared)),
})

export const diskShares = (
  { db, logDb }: { db: Opened; logDb: Opened },
  use: DiskUse,
): DiskShares => ({
  ...engineShares(use),
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

/** The disk usage of a user's apps and services, in bytes. */
export type OwnerShare = {
  email: string
  containers: number
  volumes: number
  /** Without layers that other images share. */
  images: number
}

/** Attributes usage to current owners, largest first. */
export function ownerShares(
  { db, instanceId }: { db: Db; instanceId: string },
  { containers, volumes, images }: DiskUse,
): OwnerShare[] {
  const owners = ownersOf(db)
  const shares = new Map<string, OwnerShare>()
  const add = (
    kind: Exclude<keyof OwnerShare, 'email'>,
    labels: Record<string, string>,
    bytes: number,
  ) => {
    const of = readLabels(labels)
    const email = owners.get(of.serviceId || of.projectId)
    if (of.instanceId !== instanceId || !email) return
    const share = shares.getOrInsertComputed(email, () => ({
      email,
      containers: 0,
      volumes: 0,
      images: 0,
    }))
    share[kind] += bytes
  }
  for (const { labels, size } of containers) add('containers', labels, size)
  for (const { labels, size } of volumes) add('volumes', labels, size ?? 0)
  for (const { labels, size, sharedSize } of images) add('images', labels, size - sharedSize)
  return [...shares.values()].toSorted((a, b) => totalOf(b) - totalOf(a))
}

export const totalOf = ({ containers, volumes, images }: OwnerShare) =>
  containers + volumes + images
