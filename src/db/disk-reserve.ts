import { rmSync, statSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { spaceOf } from '../platform/disk-space.ts'
import { repeat } from '../platform/pause.ts'
import { journal } from '../platform/journal.ts'

/** Bytes; enough for many a clean-up and login, and little on any disk. */
const most = 32 * 2 ** 20

/** It takes at most this part of a disk, and only where so many times as much is free. */
const share = 16
const roomFactor = 3

/** Bytes under which it would help nobody. */
const least = 2 ** 18

/** Milliseconds between two looks for room. */
const interval = 60_000

/**
 * A file that does nothing but take room, and goes when the disk is full: SQLite needs some to
 * delete anything, so that without it nothing could be cleaned up.
 */
export class DiskReserve {
  /** The disk was found full, and has had no room since. */
  isGone = false
  readonly #dataDir: string | null
  readonly #path: string

  /** Null for databases in memory. */
  constructor(dataDir: string | null) {
    this.#dataDir = dataDir
    this.#path = join(dataDir ?? '', 'ballast')
  }

  /** Takes the room again whenever there is enough, until the signal. */
  keep({ signal }: { signal: AbortSignal }) {
    const failed = 'the room kept on the disk was not looked at'
    return repeat(interval, () => this.hold(), { signal, failed })
  }

  async hold() {
    if (this.#dataDir === null || this.#bytes() > 0) return
    const space = await spaceOf(this.#dataDir)
    const size = Math.min(most, Math.floor((space?.size ?? 0) / share))
    if (!space || space.free < roomFactor * Math.max(size, least)) return
    if (this.isGone) journal.info('the disk with the data of Davit has room again')
    this.isGone = false
    if (size >= least) await fill(this.#path, size)
  }

  /** Whoever starts on a full disk may have no other room: SQLite opens nothing without some. */
  async makeRoomToStart() {
    if (this.#dataDir === null || this.#bytes() === 0) return
    const space = await spaceOf(this.#dataDir)
    if (space && space.free < least) this.giveUp()
  }

  /** A write found the disk full. Makes room; false when there is none to make. */
  giveUp() {
    const madeRoom = this.#bytes()
    if (!this.isGone || madeRoom > 0)
      journal.warn('the disk with the data of Davit is full', { hint, madeRoom })
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

/** With noise, which no file system packs. */
async function fill(path: string, size: number) {
  const noise = crypto.getRandomValues(Buffer.alloc(65_536))
  const file = await open(path, 'w', 0o600)
  try {
    for (let left = size; left > 0; left -= noise.length)
      await file.write(noise, 0, Math.min(left, noise.length))
    await file.sync()
  } catch {
    await rm(path, { force: true }) // the room went meanwhile
  } finally {
    await file.close()
  }
}
