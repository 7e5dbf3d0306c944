import { rmSync, statSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { spaceOf } from '../platform/disk-space.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { journal } from '../platform/journal.ts'

/** In bytes; enough for clean-ups and logins, and little on any disk. */
const maxReserve = 32 * 2 ** 20

/** The reserve takes at most this fraction of a disk, and only when this multiple of it is free. */
const share = 16
const roomFactor = 3

/** In bytes: a smaller reserve wouldn't help. */
const least = 2 ** 18

/** Milliseconds between two checks for free space. */
const interval = 60_000

/**
 * A file that reserves disk space, and is deleted when the disk is full: SQLite needs space to delete
 * anything, so without it nothing could be cleaned up.
 */
export class DiskReserve {
  /** True after the disk was found full, until it has free space again. */
  isGone = false
  readonly #dataDir: string | null
  readonly #path: string

  /** Null for databases in memory. */
  constructor(dataDir: string | null) {
    this.#dataDir = dataDir
    this.#path = join(dataDir ?? '', 'ballast')
  }

  /** Recreates the reserve whenever there is enough space, until the signal. */
  keep(scheduler: Scheduler, { signal }: { signal: AbortSignal }) {
    const failed = 'checking the disk reserve failed'
    return scheduler.repeat(interval, () => this.hold(), { signal, failed })
  }

  async hold() {
    if (this.#dataDir === null || this.#bytes() > 0) return
    const space = await spaceOf(this.#dataDir)
    const size = Math.min(maxReserve, Math.floor((space?.size ?? 0) / share))
    if (!space || space.free < roomFactor * Math.max(size, least)) return
    if (this.isGone) journal.info('the disk with Davit’s data has free space again')
    this.isGone = false
    if (size >= least) await fill(this.#path, size)
  }

  /** When Davit starts with a full disk this may be the only space: SQLite needs some to open anything. */
  async makeRoomToStart() {
    if (this.#dataDir === null || this.#bytes() === 0) return
    const space = await spaceOf(this.#dataDir)
    if (space && space.free < least) this.giveUp()
  }

  /** Call it when a write found the disk full. Frees the reserve; returns false when there is none. */
  giveUp() {
    const madeRoom = this.#bytes()
    if (!this.isGone || madeRoom > 0)
      journal.warn('the disk with Davit’s data is full', { hint, madeRoom })
    this.isGone = true
    rmSync(this.#path, { force: true })
    return madeRoom > 0
  }

  #bytes() {
    if (this.#dataDir === null) return 0
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
  }
}

const hint = 'Free some space on it. Until then no output of containers is kept.'

/** With random bytes, which no file system compresses. */
async function fill(path: string, size: number) {
  const noise = crypto.getRandomValues(Buffer.alloc(65_536))
  const file = await open(path, 'w', 0o600)
  try {
    for (let left = size; left > 0; left -= noise.length)
      await file.write(noise, 0, Math.min(left, noise.length))
    await file.sync()
  } catch {
    await rm(path, { force: true }) // the space was used meanwhile
  } finally {
    await file.close()
  }
}
