const pageSize = 500
/** Pages kept; dropped ones are fetched again when they come back into view. */
const maxPages = 20

/**
 * The lines of a log by number, as HTML. It keeps some thousands and asks the server for the rest,
 * so that a hundred thousand lines cost a phone no more than a few.
 */
export class LogLines {
  /** The lowest and the highest line number there is. */
  first = 1
  last = 0
  /** Where there are always all: see log-filtered.js. */
  isAtEnd = true
  isWhole = true
  #url
  #changed
  #pages = new Map()
  /** Sequences of the lines that are looked at. */
  #wanted = []
  #timer = null

  /** `url` gives the address of lines with some parameters; `changed` is called when some have come. */
  constructor(url, { changed }) {
    this.#url = url
    this.#changed = changed
  }

  /** Begins with what the server drew. */
  takeOver(list) {
    for (const row of list.children) this.set(sequenceOf(row), row.outerHTML)
    this.first = Number(list.dataset.first)
    this.last = Number(list.dataset.last)
  }

  get(sequence) {
    return this.#pages.get(pageOf(sequence))?.[(sequence - 1) % pageSize]
  }

  set(sequence, html) {
    const number = pageOf(sequence)
    let page = this.#pages.get(number)
    if (!page) {
      this.#pages.set(number, (page = []))
      this.#forget(number)
    }
    page[(sequence - 1) % pageSize] = html
    if (sequence > this.last) this.last = sequence
  }

  /** The number of its row; undefined where it isn't kept. */
  async reach(sequence) {
    return sequence >= this.first && sequence <= this.last ? sequence : undefined
  }

  async toEnd() {}

  /** Rises with each that is written. */
  get arrived() {
    return this.last
  }

  /** How many there are. */
  get total() {
    return this.last - this.first + 1
  }

  /** Says which lines are looked at; those that are missing come later, and `changed` is called. */
  want(first, last) {
    this.wantAll(Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at))
  }

  wantAll(sequences) {
    this.#wanted = sequences
    // a short wait, so that a scroll past many pages asks for the last one only
    if (this.#timer === null && this.#missing().length > 0)
      this.#timer = setTimeout(() => this.#load(), 60)
  }

  async #load() {
    let wait = 60
    try {
      for (const number of this.#missing()) await this.#loadPage(number)
      this.#changed()
    } catch {
      wait = 2000
    }
    this.#timer = null
    if (this.#missing().length > 0) this.#timer = setTimeout(() => this.#load(), wait)
  }

  /** Very long lines take several responses. */
  async #loadPage(number) {
    const end = Math.min(this.last, (number + 1) * pageSize)
    for (let after = number * pageSize; after < end;) {
      const lines = await this.#fetch({ after, limit: (number + 1) * pageSize - after })
      if (lines.length === 0) break
      for (const line of lines) this.set(sequenceOf(line), line.outerHTML)
      after = sequenceOf(lines.at(-1))
    }
    this.#fillIn(number)
  }

  async #fetch(place) {
    const headers = { 'HX-Request': 'true', Accept: 'text/html' }
    const response = await fetch(this.#url(place), { headers })
    if (response.status === 401) location.href = '/login'
    if (!response.ok) throw new Error(`lines: ${response.status}`)
    const template = document.createElement('template')
    template.innerHTML = await response.text()
    return [...template.content.children]
  }

  /** Lines that the server no longer has aren't fetched again. */
  #fillIn(number) {
    const end = Math.min(this.last, (number + 1) * pageSize)
    for (let sequence = number * pageSize + 1; sequence <= end; sequence++)
      if (this.get(sequence) === undefined) this.set(sequence, goneLine(sequence))
  }

  #missing() {
    const missing = this.#wanted.filter((sequence) => this.get(sequence) === undefined)
    return [...new Set(missing.map(pageOf))]
  }

  /** Drops the page that is farthest from what is looked at. */
  #forget(justMade) {
    if (this.#pages.size <= maxPages) return
    const middle = pageOf(this.#wanted[this.#wanted.length >> 1] ?? this.last)
    const distance = (number) => (number === justMade ? -1 : Math.abs(number - middle))
    const numbers = [...this.#pages.keys()]
    this.#pages.delete(
      numbers.reduce((far, number) => (distance(number) > distance(far) ? number : far)),
    )
  }
}

/** The number of a line, which its row has as its id; 0 for other rows. */
export const sequenceOf = ({ id }) => Number(id.slice(1))

const goneLine = (sequence) =>
  `<div class="line system" id="L${sequence}"><a></a><span>no longer kept</span></div>`

const pageOf = (sequence) => Math.floor((sequence - 1) / pageSize)
