/** Rows that are kept; the older ones are with the server. */
const most = 10_000

/** The newest rows of a log, as HTML, numbered as they came. */
export class LogTailRows {
  #rows = []
  /** How many went before the first of them. */
  #gone = 0
  /** Those that came since it is held; null when it is not. */
  #waiting = null
  /** Rows that came since it is held, kept or not. */
  fresh = 0

  get first() {
    return this.#gone + 1
  }

  get last() {
    return this.#gone + this.#rows.length
  }

  get length() {
    return this.#rows.length
  }

  /** Rows that there were in all. */
  get count() {
    return this.last + this.fresh
  }

  get(number) {
    return this.#rows[number - this.first]
  }

  want() {}

  all() {
    return this.#rows.slice(-most)
  }

  push(html) {
    if (!this.#waiting) return this.#add([html])
    this.fresh++
    this.#waiting.push(html)
    if (this.#waiting.length >= 2 * most) this.#waiting = this.#waiting.slice(-most)
  }

  clear() {
    this.#rows = []
    this.#waiting = null
    this.#gone = this.fresh = 0
  }

  /** Keeps what is seen as it is. */
  hold() {
    this.#waiting ??= []
  }

  release() {
    const waiting = this.#waiting ?? []
    const lost = this.fresh - waiting.length
    if (lost > 0) {
      this.#gone = this.last + lost
      this.#rows = []
    }
    this.#waiting = null
    this.fresh = 0
    this.#add(waiting)
  }

  /** Forgets many at a time, as taking one from the front is as much work. */
  #add(rows) {
    for (const row of rows) this.#rows.push(row)
    if (this.#rows.length >= 2 * most)
      this.#gone += this.#rows.splice(0, this.#rows.length - most).length
  }
}
