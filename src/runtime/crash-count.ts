import type { EngineEvent } from '../docker/index.ts'

/** Milliseconds. So many restarts within this time are a crash loop, and a run this long ends it. */
export const calm = 60_000
const loopFrom = 3

/** The error of a live deployment whose containers keep crashing. */
export const crashLoop = 'crash_loop'

/** The error of a live deployment that Davit stopped because it filled the disk. */
export const diskFilled = 'disk_filled'

/** Reasons for which Davit itself stops a live version. */
export const stopCodes = [crashLoop, diskFilled] as const
export type StopCode = (typeof stopCodes)[number]

export const isStopCode = (code: string | null | undefined): code is StopCode =>
  (stopCodes as readonly (string | null | undefined)[]).includes(code)

type Run = {
  startedAt: number
  /** True after it exited by itself with a failure, until someone starts or stops it. */
  ended: boolean
  /** When it was restarted after exiting by itself, since its last stable run. */
  restarts: number[]
  looping: boolean
  oom: boolean
  lastEnd: { exitCode: number; oom: boolean } | null
}

type Heard = Pick<EngineEvent, 'id' | 'action' | 'time' | 'attributes'>

/** Counts from the engine's events how often containers failed by themselves and were restarted. */
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

  /** Counts since it last ran for a minute. */
  restartsOf(id: string) {
    return this.#runs.get(id)?.restarts.length ?? 0
  }

  /** Returns null unless it has exited by itself. */
  lastEndOf(id: string) {
    return this.#runs.get(id)?.lastEnd ?? null
  }

  /** True when a process of it was killed for memory. The engine's list may say so only once it ended. */
  ranOut(id: string) {
    return this.#runs.get(id)?.oom ?? false
  }

  /** True when it restarted 3 times in a minute and hasn't run for a minute since. */
  isLooping(id: string, now: number) {
    const run = this.#runs.get(id)
    return run !== undefined && run.looping && (run.ended || isShort(now - run.startedAt))
  }
}

/** Uses the distance, so that a clock that was set back doesn't prolong a loop. */
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

/** Success resets the count as a stable minute does: a process may finish its work and run again later. */
function ended(run: Run, at: number, exitCode: number): Run {
  if (exitCode === 0) return fresh(run.startedAt)
  const before = isShort(at - run.startedAt) ? run : fresh(run.startedAt)
  return { ...before, ended: true, lastEnd: { exitCode, oom: run.oom } }
}
