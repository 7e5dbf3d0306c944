import { readFile } from 'node:fs/promises'
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os'
import { unlessFull } from '../db/failures.ts'
import type { Db } from '../db/index.ts'
import type { Docker } from '../docker/index.ts'
import { emit } from '../notifications/emit.ts'
import { memoryLow } from '../notifications/texts.ts'
import { spaceOf } from '../platform/disk-space.ts'
import { Failure } from '../platform/errors.ts'
import { within } from '../platform/pause.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { Sampled } from '../web/sampled.ts'

/** The server's resources, and how much of them is used. */
export type Server = Awaited<ReturnType<ServerMeter['read']>>

/** Milliseconds over which processor use is averaged. */
const interval = 5000

/** The memory is low when less than this share was free for a minute, and no longer once more than that is. */
const memoryBounds = { low: 0.05, well: 0.1, after: 12 }

export class ServerMeter {
  readonly #dataDir: string
  readonly #db: Db
  /** How often in a row it was low. */
  #lowFor = 0
  /** Null until it was stored by this process. */
  #isLow: boolean | null = null
  #before: Ticks | null = null
  /** The recently busy share of the processors; null until measured, and where it can't be. */
  #busy: number | null = null

  constructor({ dataDir }: { dataDir: string }, db: Db) {
    this.#dataDir = dataDir
    this.#db = db
  }

  run(scheduler: Scheduler, { signal }: { signal: AbortSignal }) {
    const failed = 'the use of the processors was not measured'
    return scheduler.repeat(interval, () => this.#measure(), { signal, failed })
  }

  async read() {
    const size = totalmem()
    return {
      busy: this.#busy,
      /** The average of the last minute: processes that were running or waiting to. */
      load: loadavg()[0]!,
      processors: availableParallelism(),
      /** In bytes. */
      memory: { used: size - freemem(), size }, // memory that can be freed at once isn't counted as used
      /** That of the data directory; null when it can't be read. */
      disk: await spaceOf(this.#dataDir),
    }
  }

  async #measure() {
    const ticks = ticksIn(await readFile('/proc/stat', 'utf8').catch(() => '')) // /proc exists only on Linux
    this.#busy = this.#before && ticks && busyBetween(this.#before, ticks)
    this.#before = ticks
    this.noteMemory({ free: freemem(), size: totalmem() })
  }

  /** Tells admins once. */
  noteMemory(memory: { free: number; size: number }) {
    const share = memory.free / memory.size
    this.#lowFor = share < memoryBounds.low ? this.#lowFor + 1 : 0
    const isLow =
      this.#lowFor >= memoryBounds.after || (this.#isLow === true && share < memoryBounds.well)
    if (isLow === this.#isLow) return
    unlessFull(() => {
      this.#db.transaction((tx) =>
        emit(tx, {
          ...{ subject: 'the server', href: '/containers', of: 'memory_low' },
          ...memoryLow(memory, { isOver: !isLow }),
        }),
      )
      this.#isLow = isLow
    })
  }
}

/** Ticks of all processors since the server's start. */
export type Ticks = { idle: number; all: number }

export function ticksIn(stat: string): Ticks | null {
  const line = /^cpu +(\d[\d ]*)$/m.exec(stat)
  if (!line) return null
  const [user, nice, system, idle, wait = 0, ...rest] = line[1]!.trim().split(/ +/).map(Number)
  if (idle === undefined) return null
  const interrupted = rest.slice(0, 3).reduce((sum, ticks) => sum + ticks, 0) // guest time is part of user
  return { idle: idle + wait, all: user! + nice! + system! + idle + wait + interrupted }
}

/** The busy share of the time between two readings; null when no time has passed. */
export function busyBetween(before: Ticks, now: Ticks): number | null {
  const all = now.all - before.all
  return all > 0 ? Math.min(1, Math.max(0, 1 - (now.idle - before.idle) / all)) : null
}

/** Milliseconds after which the engine counts as not responding. */
const timeoutMs = 1000

export type Engine = { ok: boolean; detail: string }

/** Returns the engine's last known state at once, unless it hasn't responded for too long. */
export function engineState(docker: Pick<Docker, 'info'>): () => Promise<Engine> {
  const sampled = new Sampled(() => askEngine(docker))
  return async () => {
    const { pending } = sampled // a request that started for an earlier page
    const found = (await sampled.look()) ?? (pending < timeoutMs && sampled.latest?.value)
    return found || ((await within(timeoutMs - pending, sampled.fresh())) ?? slow)
  }
}

const slow = { ok: false, detail: 'Docker is slow to respond. Nothing can be deployed.' }

async function askEngine(docker: Pick<Docker, 'info'>): Promise<Engine> {
  try {
    const { version } = await docker.info()
    return { ok: true, detail: `Docker Engine ${version}` }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { ok: false, detail: `${error.message} ${error.hint}` }
  }
}
