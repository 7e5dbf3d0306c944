import { readFile } from 'node:fs/promises'
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os'
import type { Docker } from '../docker/index.ts'
import { spaceOf } from '../platform/disk-space.ts'
import type { DiskSpace } from '../platform/disk-space.ts'
import { Failure } from '../platform/errors.ts'
import { repeat } from '../platform/pause.ts'
import { Sampled } from '../web/sampled.ts'
import { within } from '../web/within.ts'

/** What the server has, and how much of it is used. */
export type Server = {
  /** The share of its processors that was busy lately; null until that was measured, and where it can't be. */
  busy: number | null
  /** Processes that ran or waited to, on average of the last minute. */
  load: number
  processors: number
  /** Bytes. */
  memory: { used: number; size: number }
  /** Of the data folder; null when it can't be read. */
  disk: DiskSpace | null
}

/** Milliseconds over which the use of the processors is averaged. */
const interval = 5000

/** Measures the server that Davit runs on. */
export class ServerMeter {
  readonly #dataDir: string
  #before: Ticks | null = null
  #busy: number | null = null

  constructor({ dataDir }: { dataDir: string }) {
    this.#dataDir = dataDir
  }

  /** Measures the processors until the signal. */
  run({ signal }: { signal: AbortSignal }) {
    const failed = 'the use of the processors was not measured'
    return repeat(interval, () => this.#measure(), { signal, failed })
  }

  async read(): Promise<Server> {
    const size = totalmem()
    return {
      busy: this.#busy,
      load: loadavg()[0]!,
      processors: availableParallelism(),
      memory: { used: size - freemem(), size }, // what can be freed at once is not in use
      disk: await spaceOf(this.#dataDir),
    }
  }

  async #measure() {
    const ticks = ticksIn(await readFile('/proc/stat', 'utf8').catch(() => '')) // only on Linux
    this.#busy = this.#before && ticks && busyBetween(this.#before, ticks)
    this.#before = ticks
  }
}

/** Ticks of all processors since the server's start. */
export type Ticks = { idle: number; all: number }

/** Null when the text of /proc/stat has none. */
export function ticksIn(stat: string): Ticks | null {
  const line = /^cpu +(\d[\d ]*)$/m.exec(stat)
  if (!line) return null
  const [user, nice, system, idle, wait = 0, ...rest] = line[1]!.trim().split(/ +/).map(Number)
  if (idle === undefined) return null
  const interrupted = rest.slice(0, 3).reduce((sum, ticks) => sum + ticks, 0) // the rest is part of user
  return { idle: idle + wait, all: user! + nice! + system! + idle + wait + interrupted }
}

/** The share of the time between the two that was busy; null when no time has passed. */
export function busyBetween(before: Ticks, now: Ticks): number | null {
  const all = now.all - before.all
  return all > 0 ? Math.min(1, Math.max(0, 1 - (now.idle - before.idle) / all)) : null
}

/** Milliseconds after which the engine counts as one that doesn't respond. */
const patience = 1000

export type Engine = { ok: boolean; detail: string }

/** How the engine is, as a page needs it at once: as it was found last, unless it has been silent for too long. */
export function engineState(docker: Pick<Docker, 'info'>): () => Promise<Engine> {
  const sampled = new Sampled(() => askEngine(docker))
  return async () => {
    const { pending } = sampled // since an earlier page
    const found = (await sampled.look()) ?? (pending < patience && sampled.latest?.value)
    return found || ((await within(patience - pending, sampled.fresh())) ?? slow)
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
