/** Rows that are kept; the older ones are with the server. */
const most = 10_000

/** The newest rows of a log, as HTML. */
export class ContainerLogRows {
  /** Rows that were there in all. */
  count = 0
  #rows = []
  /** Those that came since it is held. */
  #waiting = null
  #countAtHold = 0

  get length() {
    return this.#rows.length
  }

  get isHeld() {
    return this.#waiting !== null
  }

  /** Rows that came since it is held. */
  get fresh() {
    return this.isHeld ? this.count - this.#countAtHold : 0
  }

  at(index) {
    return this.#rows[index]
  }

  all() {
    return this.#rows.slice(-most)
  }

  push(html) {
    this.count++
    add(this.#waiting ?? this.#rows, html)
  }

  clear() {
    this.count = this.#countAtHold = 0
    this.#rows = []
    this.#waiting = null
  }

  /** Keeps what is seen as it is. */
  hold() {
    if (this.isHeld) return
    this.#waiting = []
    this.#countAtHold = this.count
  }

  release() {
    if (!this.isHeld) return
    this.#rows = this.#rows.concat(this.#waiting).slice(-most)
    this.#waiting = null
  }
}

/** Forgets many at a time, as taking one from the front is as much work. */
function add(rows, html) {
  rows.push(html)
  if (rows.length >= 2 * most) rows.splice(0, rows.length - most)
}
