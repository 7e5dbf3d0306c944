import { toSummary } from './container-list.ts'
import type { SentContainer } from './container-list.ts'
import type { Abortable, Engine } from './engine.ts'
import { toImageSummary } from './images.ts'
import type { SentImage } from './images.ts'
import { retryWhileBusy } from './refusals.ts'

/** Sizes in bytes. */
export type DiskUse = Awaited<ReturnType<typeof diskUse>>
export type UsedImage = DiskUse['images'][number]
export type UsedContainer = DiskUse['containers'][number]
export type UsedVolume = DiskUse['volumes'][number]
export type CacheEntry = DiskUse['buildCache'][number]

type Sent = {
  LayersSize: number
  Images: (SentImage & { SharedSize: number })[] | null
  Containers:
    (SentContainer & { SizeRw?: number; Mounts: { Type: string; Name?: string }[] | null })[] | null
  Volumes: SentVolume[] | null
  BuildCache: SentEntry[] | null
}

type SentVolume = {
  Name: string
  Labels: Record<string, string> | null
  UsageData?: { Size: number } | null
}

type SentEntry = {
  ID: string
  /** The only parent that is reported before API 1.42. */
  Parent?: string
  Parents?: string[] | null
  /** Docker 26.1 and 28.5 misspell the field. */
  ' Parents'?: string[] | null
  Type: string
  Description: string
  InUse: boolean
  Shared: boolean
  Size: number
  LastUsedAt: string | null
}

/** In milliseconds. The engine walks every layer and volume. */
const timeoutMs = 120_000

export async function diskUse(engine: Engine, { signal }: Abortable = {}) {
  const found = await retryWhileBusy(signal, () =>
    engine.request<Sent>('GET', '/system/df', { signal, timeout: timeoutMs }),
  )
  return {
    /** The size of all layers, each counted once. */
    layersSize: found.LayersSize,
    images: (found.Images ?? []).map((image) => ({
      ...toImageSummary(image),
      /** The size of layers that it shares with other images. */
      sharedSize: Math.max(0, image.SharedSize),
    })),
    containers: (found.Containers ?? []).map((container) => ({
      ...toSummary(engine, container),
      /** The size of what it has written on top of its image. */
      size: container.SizeRw ?? 0,
      /** The names of its networks, even while it doesn't run. */
      networks: Object.keys(container.NetworkSettings?.Networks ?? {}),
      /** The names of its volumes, including anonymous ones. */
      volumes: (container.Mounts ?? []).flatMap(({ Type, Name }) =>
        Type === 'volume' && Name ? [Name] : [],
      ),
    })),
    volumes: (found.Volumes ?? []).map(({ Name, Labels, UsageData }) => ({
      name: Name,
      labels: Labels ?? {},
      /** Null when the volume's driver doesn't report it. */
      size: UsageData && UsageData.Size >= 0 ? UsageData.Size : null,
    })),
    buildCache: (found.BuildCache ?? []).map(toEntry),
  }
}

const toEntry = (found: SentEntry) => ({
  id: found.ID,
  /** Ids of entries that it was built from: they can be removed only after it. */
  parents: found.Parents ?? found[' Parents'] ?? (found.Parent ? [found.Parent] : []),
  type: found.Type,
  description: found.Description,
  inUse: found.InUse,
  /** True when it is part of an image, whose size includes it. */
  shared: found.Shared,
  size: found.Size,
  lastUsedAt: found.LastUsedAt ? new Date(found.LastUsedAt) : null,
})

/** Returns the bytes freed; null when the entry doesn't exist, is in use, or others are built from it. */
export async function removeBuildCache(
  engine: Engine,
  id: string,
  { signal }: Abortable = {},
): Promise<number | null> {
  if (!/^[a-z0-9]+$/.test(id)) return null // the engine treats it as a pattern
  const query = { all: true, filters: { id: ['^' + id + '$'] } }
  type Pruned = { CachesDeleted: string[] | null; SpaceReclaimed: number }
  const options = { query, signal, timeout: timeoutMs }
  const { CachesDeleted, SpaceReclaimed } = await engine.request<Pruned>(
    'POST',
    '/build/prune',
    options,
  )
  return CachesDeleted?.includes(id) ? SpaceReclaimed : null
}
