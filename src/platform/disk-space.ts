import { statfs } from 'node:fs/promises'

export type DiskSpace = NonNullable<Awaited<ReturnType<typeof spaceOf>>>

/** Null when the folder can't be read. */
export async function spaceOf(folder: string) {
  try {
    const { bsize, blocks, bfree, bavail } = await statfs(folder)
    const taken = blocks - bfree
    return {
      folder,
      /** In bytes, as `df` counts: blocks reserved for root are neither free nor used. */
      size: (taken + bavail) * bsize,
      free: bavail * bsize,
      /** In percent. */
      used: Math.round((taken / Math.max(1, taken + bavail)) * 100),
    }
  } catch {
    return null
  }
}

/** Bytes that must be free before a build starts: it may need this much at once, and so may the apps. */
export const leastFree = ({ size }: Pick<DiskSpace, 'size'>) =>
  Math.min(2 * 2 ** 30, Math.floor(size / 10))

/** When people should look at it. */
export const isAlmostFull = (space: Pick<DiskSpace, 'size' | 'free' | 'used'>) =>
  space.used >= 90 || space.free < leastFree(space)

/** The hint when a disk has too little space. */
export const roomHint =
  'Free some space: an admin can see what uses it and remove it under Settings, Clean-up. Then try again.'
