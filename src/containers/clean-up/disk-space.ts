import { statfs } from 'node:fs/promises'
import type { Deps } from '../../deps.ts'

export type DiskSpace = {
  /** A folder on that disk. */
  folder: string
  /** Bytes, as `df` counts: what only root may use is neither free nor used. */
  size: number
  free: number
  /** Per cent. */
  used: number
}

/** The disk that holds the engine's data, or else Davit's own; null when that is another machine's. */
export async function diskSpace({
  docker,
  config,
}: Pick<Deps, 'docker' | 'config'>): Promise<DiskSpace | null> {
  if (docker.remote) return null
  return (await spaceOf(await docker.engineFolder())) ?? spaceOf(config.dataDir)
}

/** Null when the folder is not there for us. */
export async function spaceOf(folder: string): Promise<DiskSpace | null> {
  try {
    const { bsize, blocks, bfree, bavail } = await statfs(folder)
    const taken = blocks - bfree
    return {
      folder,
      size: (taken + bavail) * bsize,
      free: bavail * bsize,
      used: Math.round((taken / Math.max(1, taken + bavail)) * 100),
    }
  } catch {
    return null
  }
}
