import type { LogDb } from '../../db/index.ts'
import type { Engines, StatsReading } from '../../docker/index.ts'
import { usageBetween } from '../../docker/index.ts'
import { report } from '../../platform/journal.ts'
import { untilBeat } from '../../platform/pause.ts'
import type { Scheduler } from '../../platform/scheduler.ts'
import type { Measured, UsagePoller } from './poller.ts'
import { averageSamples, deleteOldSamples, insertSamples, spans } from './sample-store.ts'
import type { ContainerSample } from './sample-store.ts'

/** Containers that are measured concurrently. */
const width = 4

/** Seconds between two readings beyond which their average says nothing about the last ten. */
const maxApart = 3 * spans.fine

const period = spans.fine * 1000

/** Averaging can go back this many seconds, since all fine samples still exist. */
const wholeFine = 3600

type SamplerDeps = { engines: Engines; logDb: LogDb; usage: UsagePoller }

export function sampleUsage(
  deps: SamplerDeps & { scheduler: Scheduler },
  { signal }: { signal: AbortSignal },
) {
  const sampler = new Sampler(deps)
  const failed = 'the usage of containers was not measured'
  let isAway = false
  async function run() {
    try {
      await sampler.sample({ now: Date.now(), passed: performance.now(), signal })
      isAway = false
    } catch (error) {
      if (signal.aborted) return
      if (!isAway) report(failed, error)
      isAway = true
    }
  }
  const next = (now: number) => now + untilBeat(period, now)
  return deps.scheduler.keep({ next, run, failed }, { signal })
}

/** Measures in rounds, and compares each one with the one before. */
export class Sampler {
  readonly #deps: SamplerDeps
  readonly #clock = new ClockTrust()
  #before = new Map<string, StatsReading>()
  #averagedUntil: number | undefined

  constructor(deps: SamplerDeps) {
    this.#deps = deps
  }

  /** In milliseconds. `passed` is monotonic, whatever happens to the clock. */
  async sample({ now, passed, signal }: { now: number; passed: number; signal?: AbortSignal }) {
    const readings = await this.#readAll(signal).catch((error) => {
      this.#deps.usage.remember(new Map()) // what was used before is not what is used now
      throw error
    })
    const measured = new Map<string, Measured>()
    for (const [id, reading] of readings)
      measured.set(id, { reading, usage: usageSince(this.#before.get(id), reading) })
    this.#before = readings
    this.#deps.usage.remember(measured)
    const time = Math.round(now / period) * spans.fine
    this.#store(measured, { time, isProven: this.#clock.isProven({ now, passed }) })
  }

  async #readAll(signal: AbortSignal | undefined) {
    const { engines } = this.#deps
    const readings = new Map<string, StatsReading>()
    const { found: running } = await engines.reachable(async (docker) =>
      (await docker.listContainers({ signal })).map(({ id }) => ({ id, docker })),
    )
    const containers = running.values()
    await Promise.all(
      Array.from({ length: width }, async () => {
        for (const { id, docker } of containers) {
          // an unreadable one is only a gap in its own history
          const reading = await docker.containerStats(id, { signal }).catch(() => null)
          if (reading) readings.set(id, reading)
        }
      }),
    )
    signal?.throwIfAborted()
    return readings
  }

  #store(measured: Map<string, Measured>, { time, isProven }: { time: number; isProven: boolean }) {
    const { logDb } = this.#deps
    if (logDb.$client.reserve.isGone) return // the remaining space is for the clean-up
    const after = Math.min(this.#averagedUntil ?? time - wholeFine, time - 1)
    logDb.transaction(() => {
      insertSamples(logDb, toSamples(measured, time))
      averageSamples(logDb, { after, until: time })
      if (isProven) deleteOldSamples(logDb, time)
    })
    this.#averagedUntil = time
  }
}

/** Null when the two readings don't cover the last ten seconds. */
function usageSince(before: StatsReading | undefined, reading: StatsReading) {
  if (!before || reading.cpuTotal < before.cpuTotal) return null // it restarted
  const apart = (reading.readAt.getTime() - before.readAt.getTime()) / 1000
  return apart > 0 && apart <= maxApart ? usageBetween(before, reading) : null
}

const toSamples = (measured: Map<string, Measured>, time: number): ContainerSample[] =>
  [...measured].flatMap(([containerId, { usage }]) => {
    if (!usage) return []
    const { cpu, memory, pids, rates } = usage
    return [{ containerId, time, cpu, memory, pids, ...rates }]
  })

/** Milliseconds by which the clock may deviate from the monotonic one before it counts as having jumped. */
const tolerance = 60_000

/** Milliseconds for which a clock must be steady before old samples are deleted by it. */
const proof = 15 * 60_000

/** Decides whether to trust the clock: one that was just set, or at Davit's start, may be set again. */
class ClockTrust {
  #offset: number | undefined
  #since = 0

  /** In milliseconds: the clock's time, and a monotonic one. */
  isProven({ now, passed }: { now: number; passed: number }) {
    const offset = now - passed
    if (this.#offset === undefined || Math.abs(offset - this.#offset) > tolerance)
      this.#since = passed
    this.#offset = offset
    return passed - this.#since >= proof
  }
}
