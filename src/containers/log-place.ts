import { timestampOf } from './log-line.ts'
import type { Line } from './log-line.ts'

/** Milliseconds by which lines may be out of order: stdout and stderr are written concurrently. */
export const disorder = 250

/** A position in a log, to resume after it although the engine repeats earlier lines. */
export class LogPlace {
  /** True once the line was found, or is known to be lost: everything after it is new. */
  passed = false
  /** True when the line was lost: some lines after it may be lost, too. */
  missed = false
  readonly #id: string
  readonly #timestamp: string
  #waiting: Line[] = []

  constructor(id: string) {
    this.#id = id
    this.#timestamp = timestampOf(id)
  }

  /** The time to start reading from. */
  get since() {
    return new Date(Date.parse(this.#timestamp) - disorder)
  }

  take(lines: Line[]): Line[] {
    if (this.passed) return lines
    const at = lines.findIndex(({ id }) => id === this.#id)
    if (at >= 0) {
      this.passed = true
      return lines.slice(at + 1)
    }
    this.#waiting.push(...lines.filter(({ timestamp }) => timestamp > this.#timestamp))
    return this.#isBehind() ? this.end() : []
  }

  /** The log has ended without the line: returns what was held back, as it is new. */
  end(): Line[] {
    if (this.passed || this.#waiting.length === 0) return []
    this.passed = this.missed = true
    return this.#waiting
  }

  #isBehind() {
    const last = this.#waiting.at(-1)
    return last && Date.parse(last.timestamp) - Date.parse(this.#timestamp) > disorder
  }
}

/**
 * Recognises lines that the engine repeats, which it does while it follows a file
 * that is rotated. The times of one stream otherwise never decrease.
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

/** After a clock was set back, earlier lines seem to come from the future. */
const isAhead = (timestamp: string) => Date.parse(timestamp) > Date.now() + 1000
