import type { Clock } from '../../src/platform/scheduler.ts'

/** A clock that moves when a test says so. `set` is what people do to it: time doesn't pass meanwhile. */
export class TestClock implements Clock {
  #now: number
  #passed = 0
  readonly #timers = new Set<{ at: number; wake: () => void }>()
  /** How often something woke up. */
  wakes = 0

  constructor(at: string) {
    this.#now = Date.parse(at)
  }

  now = () => this.#now
  passed = () => this.#passed
  after = (milliseconds: number, wake: () => void) => {
    const timer = { at: this.#passed + milliseconds, wake }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  get timers() {
    return this.#timers.size
  }

  set(at: string) {
    this.#now = Date.parse(at)
  }

  /** Lets time pass, with all that it wakes. */
  async pass(milliseconds: number) {
    const end = this.#passed + milliseconds
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve)) // what runs may end, and be planned again
      const [next] = [...this.#timers].sort((a, b) => a.at - b.at)
      if (!next || next.at > end) break
      this.#move(Math.max(next.at, this.#passed))
      this.#timers.delete(next)
      this.wakes++
      next.wake()
    }
    this.#move(end)
  }

  /** Until a time of the clock. */
  until = (at: string) => this.pass(Date.parse(at) - this.#now)

  #move(to: number) {
    this.#now += to - this.#passed
    this.#passed = to
  }
}
