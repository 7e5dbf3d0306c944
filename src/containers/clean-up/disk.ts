import type { z } from 'zod'
import { buildCaps } from '../../docker/index.ts'
import type { DiskUse, Docker } from '../../docker/index.ts'
import type { buildLimit, diskShare, engineShare, ownerShare } from './json.ts'
import { databaseBytes, ownersOf } from './store.ts'
import type { Opened } from './store.ts'
import type { OtherServer } from './kinds.ts'
import type { Config } from '../../config.ts'
import { leastFree, spaceOf } from '../../platform/disk-space.ts'
import type { DiskSpace } from '../../platform/disk-space.ts'
import type { Db } from '../../db/index.ts'
import { readLabels } from '../../docker/labels.ts'

type EngineShares = z.output<ReturnType<typeof engineShare>>
export type DiskShares = z.output<ReturnType<typeof diskShare>>
export type BuildLimits = z.output<ReturnType<typeof buildLimit>>
export type OwnerShare = z.output<ReturnType<typeof ownerShare>>

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
