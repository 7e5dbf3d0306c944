import { report } from './journal.ts'
import { untilBeat } from './pause.ts'

/** The clock that people set, and one that nothing sets; both in milliseconds. */
export type Clock = {
  now: () => number
  passed: () => number
  /** Calls `wake` after so many milliseconds, unless it is cancelled by what it returns. */
  after: (milliseconds: number, wake: () => void) => () => void
}

export type Periodic = {
  /**
   * When it is due next; null for not until `wake`. Asked at its start, after each run and `wake`, and when the
   * clock was set, with `wasSet`.
   */
  next: (now: number, clock: { wasSet: boolean }) => number | null
  run: (now: number) => unknown
  /** Said in Davit's log when it throws. */
  failed: string
}

type Entry = {
  task: Periodic
  due: number | null
  running: Promise<void> | null
  /** The clock was set since its last plan. */
  wasSet: boolean
}

/** A clock that deviates by more than these milliseconds was set. */
const tolerance = 2000

/** Milliseconds until the clock is looked at again, as no event says that it was set. */
const longest = 60_000

/** Milliseconds after which what failed is tried again at the earliest. */
const pause = 1000

const systemClock: Clock = {
  now: () => Date.now(),
  passed: () => performance.now(),
  after(milliseconds, wake) {
    const timer = setTimeout(wake, milliseconds)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** All that happens at times, on one timer: to the next that is due. Each runs beside the others, never twice at once. */
export class Scheduler {
  readonly #clock: Clock
  readonly #entries = new Set<Entry>()
  #offset: number
  #cancel = () => {}

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
    this.#offset = clock.now() - clock.passed()
  }

  /** Runs it whenever it is due, until the signal. Then resolves when its last run has ended. */
  async keep(task: Periodic, { signal }: { signal: AbortSignal }) {
    if (signal.aborted) return
    const entry: Entry = { task, due: null, running: null, wasSet: false }
    this.#entries.add(entry)
    this.#plan(entry)
    this.#arm()
    await new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    this.#entries.delete(entry)
    this.#arm()
    await entry.running
  }

  /** Runs the work now and every so many milliseconds: at their multiples, so that all wake up together. */
  repeat(
    interval: number,
    run: () => unknown,
    { failed, signal }: { failed: string; signal: AbortSignal },
  ) {
    let isFirst = true
    const next = (now: number) => (isFirst ? now : now + untilBeat(interval, now))
    return this.keep({ next, run: () => ((isFirst = false), run()), failed }, { signal })
  }

  /** In milliseconds, by the clock that people set. */
  now = () => this.#clock.now()

  /** Call it when something may be due at another time. */
  wake() {
    for (const entry of this.#entries) this.#plan(entry)
    this.#arm()
  }

  #plan(entry: Entry, { hasFailed = false } = {}) {
    const now = this.#clock.now()
    const { wasSet } = entry
    const isDue = !wasSet && entry.due !== null && entry.due <= now
    if (entry.running || isDue) return // it is asked when it has run
    try {
      const next = entry.task.next(now, { wasSet })
      entry.wasSet = false
      entry.due = next !== null && hasFailed ? Math.max(next, now + pause) : next
    } catch (error) {
      report(entry.task.failed, error)
      entry.due = now + pause
    }
  }

  #arm() {
    this.#cancel()
    const dues = [...this.#entries].flatMap(({ due }) => due ?? [])
    if (dues.length === 0) return
    const left = Math.min(longest, Math.max(0, Math.min(...dues) - this.#clock.now()))
    this.#cancel = this.#clock.after(left, () => this.#look())
  }

  #look() {
    const now = this.#clock.now()
    const offset = now - this.#clock.passed()
    const wasSet = Math.abs(offset - this.#offset) > tolerance
    if (wasSet)
      for (const entry of this.#entries) {
        entry.wasSet = true
        this.#plan(entry)
      }
    this.#offset = offset
    for (const entry of this.#entries)
      if (entry.due !== null && entry.due <= now) this.#start(entry)
    this.#arm()
  }

  #start(entry: Entry) {
    const { task } = entry
    entry.due = null
    let hasFailed = false
    entry.running = Promise.try(() => task.run(this.#clock.now()))
      .then(() => {})
      .catch((error) => {
        report(task.failed, error)
        hasFailed = true
      })
      .finally(() => {
        entry.running = null
        if (!this.#entries.has(entry)) return
        this.#plan(entry, { hasFailed })
        this.#arm()
      })
  }
}
