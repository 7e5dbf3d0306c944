import type { EngineEvent } from '../docker/index.ts'

/** Milliseconds: this many restarts within this time are a crash loop, and a run this long ends it. */
export const calm = 60_000
const loopFrom = 3

/** The error of a live deployment whose containers end again and again. */
export const crashLoop = 'crash_loop'

/** Of one that Davit stopped because it filled the disk. */
export const diskFilled = 'disk_filled'

/** Why Davit stops what it runs. */
export const stopCodes = [crashLoop, diskFilled] as const
export type StopCode = (typeof stopCodes)[number]

export const isStopCode = (code: string | null | undefined): code is StopCode =>
  (stopCodes as readonly (string | null | undefined)[]).includes(code)

type Run = {
  startedAt: number
  /** It exited by itself with a failure, and no one has started or stopped it since. */
  ended: boolean
  /** Times of restarts after it exited by itself, since its last stable run. */
  restarts: number[]
  looping: boolean
  oom: boolean
  lastEnd: { exitCode: number; oom: boolean } | null
}

type Heard = Pick<EngineEvent, 'id' | 'action' | 'time' | 'attributes'>

/** Counts how often containers failed by themselves and were restarted, from the engine's events. */
export class CrashCount {
  readonly #runs = new Map<string, Run>()

  hear({ id, action, time, attributes }: Heard) {
    const at = time.getTime()
    const run = this.#runs.get(id) ?? fresh(-Infinity)
    if (action === 'start') this.#runs.set(id, run.ended ? restarted(run, at) : fresh(at))
    else if (action === 'oom') this.#runs.set(id, { ...run, oom: true })
    else if (action === 'die') this.#runs.set(id, ended(run, at, Number(attributes.exitCode)))
    else if (action === 'stop' || action === 'destroy') this.#runs.delete(id)
  }

  /** Restarts since it last ran for a minute. */
  restartsOf(id: string) {
    return this.#runs.get(id)?.restarts.length ?? 0
  }

  /** How it last exited by itself. */
  lastEndOf(id: string) {
    return this.#runs.get(id)?.lastEnd ?? null
  }

  /** Whether a process of it was killed for memory since its start; the engine's list may say so only at its end. */
  ranOut(id: string) {
    return this.#runs.get(id)?.oom ?? false
  }

  /** Whether it restarted 3 times in a minute and has not run for a minute since. */
  isLooping(id: string, now: number) {
    const run = this.#runs.get(id)
    return run !== undefined && run.looping && (run.ended || isShort(now - run.startedAt))
  }
}

/** A clock that was set back doesn't prolong a loop. */
const isShort = (milliseconds: number) => Math.abs(milliseconds) < calm

const fresh = (startedAt: number): Run => ({
  startedAt,
  ended: false,
  restarts: [],
  looping: false,
  oom: false,
  lastEnd: null,
})

function restarted(run: Run, at: number): Run {
  const restarts = [...run.restarts, at]
  const recent = restarts.filter((restart) => isShort(at - restart))
  const looping = run.looping || recent.length >= loopFrom
  return { ...run, startedAt: at, ended: false, restarts, looping, oom: false }
}

/** Success ends a row as a minute does: a process may finish its work, and be started again for more. */
function ended(run: Run, at: number, exitCode: number): Run {
  if (exitCode === 0) return fresh(run.startedAt)
  const before = isShort(at - run.startedAt) ? run : fresh(run.startedAt)
  return { ...before, ended: true, lastEnd: { exitCode, oom: run.oom } }
}
