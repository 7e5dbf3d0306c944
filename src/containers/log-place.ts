import { timestampOf } from './log-line.ts'
import type { Line } from './log-line.ts'

/**
 * Milliseconds by which lines can stand in the engine's file before older ones: stdout and stderr are
 * written side by side.
 */
export const disorder = 250

/** The place after a line, found again in what the engine repeats. */
export class LogPlace {
  /** True once it was found, or known to be lost: everything after is new. */
  passed = false
  /** True when it was lost: some lines after it may be, too. */
  missed = false
  readonly #id: string
  readonly #timestamp: string
  #waiting: Line[] = []

  constructor(id: string) {
    this.#id = id
    this.#timestamp = timestampOf(id)
  }

  /** When to read from to find it. */
  get since() {
    return new Date(Date.parse(this.#timestamp) - disorder)
  }

  /** Those of the next lines that are behind the place. */
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

  /** Lines that turn out to be new, since the place isn't found. */
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
 * Recognises lines that the engine repeats, as it does while it follows a file that is rotated: those
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
