import type { Line } from './log-line.ts'

/**
 * Knows lines that the engine tells again, as it does while it follows a file that is rotated: those
 * of one stream never go back in time.
 */
export class LogOrder {
  readonly #last = { stdout: '', stderr: '', system: '' }
  readonly #isBack = { stdout: false, stderr: false, system: false }

  isNew({ stream, timestamp }: Line) {
    const last = this.#last[stream]
    const isBack = timestamp < last || (this.#isBack[stream] && timestamp === last)
    if (isBack && !isAhead(last)) {
      this.#isBack[stream] = true
      return false
    }
    this.#isBack[stream] = false
    this.#last[stream] = timestamp
    return true
  }
}

/** After a clock was set back, what was written before it seems to come from the future. */
const isAhead = (timestamp: string) => Date.parse(timestamp) > Date.now() + 1000
