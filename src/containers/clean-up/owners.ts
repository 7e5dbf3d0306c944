import type { Db } from '../../db/index.ts'
import type { DiskUse } from '../../docker/index.ts'
import { readLabels } from '../../docker/labels.ts'
import { ownersOf } from './store.ts'

/** The disk usage of a user's apps and services, in bytes. */
export type OwnerShare = {
  email: string
  /** The writable layers of containers. */
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
