import { sequenceOf } from './log-lines.js'

const pageSize = 500
/** Rows beyond those in view from which on more are asked for. */
const margin = 200
/** Rows that are kept; dropped ones are fetched again when they come back into view. */
const most = 20_000

/**
 * The lines of a log that pass a filter, as HTML: a stretch of them without gaps, which grows at the end that
 * is looked at. Rows are counted from the first that came; those before it have numbers below 1.
 */
export class FilteredLines {
  /** Whether its end is what is looked at. */
  following = true
  #url
  #changed
  #replaced
  /** Sequences and rows, in order; the number of the first of them. */
  #rows = []
  #first = 1
  /** The sequences to go on before and after; null at the beginning and the end of the log. */
  #previous = null
  #next = null
  /** The newest one that was heard of, in the stretch or not. */
  #newest = 0
  /** How many lines have been written while the page was open. */
  arrived = 0
  #isLoading = false

  /**
   * `url` gives the address of lines with some parameters. `changed` is called when rows were added,
   * `replaced` when they are others, with whether those are the last ones.
   */
  constructor(url, { changed, replaced }) {
    this.#url = url
    this.#changed = changed
    this.#replaced = replaced
  }

  get first() {
    return this.#first
  }

  get last() {
    return this.#first + this.#rows.length - 1
  }

  /** How many there are, as far as they have come. */
  get total() {
    return this.#rows.length
  }

  get isAtEnd() {
    return this.#next === null
  }

  get isWhole() {
    return this.#previous === null && this.isAtEnd
  }

  /** Begins with what the server drew. */
  takeOver(list) {
    this.#rows = 'sparse' in list.dataset ? [] : [...list.children].map(toRow)
    this.#newest = this.#lastSequence
    this.#previous = this.#rows[0]?.sequence ?? Number(list.dataset.last) + 1
  }

  get(number) {
    return this.#rows[number - this.#first]?.html
  }

  /** Takes a line that has just been written. */
  set(sequence, html) {
    if (sequence <= this.#newest) return
    this.#newest = sequence
    this.arrived++
    if (!this.isAtEnd) return
    if (!this.following && this.#rows.length >= most) this.#next = this.#lastSequence
    else this.#add([{ sequence, html }])
  }

  /** Takes what was said between two lines, which is none itself. */
  note(html) {
    if (this.isAtEnd) this.#add([{ sequence: this.#newest, html }])
  }

  /** Says which rows are looked at; those that are missing come later. */
  want(first, last) {
    if (this.#isLoading) return
    if (this.#previous !== null && first - this.first < margin) this.#load(() => this.#loadBefore())
    else if (!this.isAtEnd && this.last - last < margin) this.#load(() => this.#loadAfter())
  }

  /** The number of a line's row, or of the next one that passes; undefined where there is none. */
  async reach(sequence) {
    const isHere = this.#rows[0]?.sequence <= sequence && sequence <= this.#lastSequence
    if (!isHere) {
      const { rows, next } = await this.#fetch({ after: sequence - 1 })
      if (rows.length === 0) return
      this.#replace(rows, { previous: sequence, next })
    }
    const at = this.#rows.findIndex((row) => row.sequence >= sequence)
    return at < 0 ? undefined : this.#first + at
  }

  /** Goes to the end of the log. */
  async toEnd() {
    if (this.isAtEnd) return
    const { rows, previous } = await this.#fetch({ before: 1e15 - 1 })
    this.#replace(rows, { previous, next: null })
  }

  async #load(work) {
    this.#isLoading = true
    try {
      await work()
      this.#changed()
    } catch {
      setTimeout(() => this.#changed(), 2000)
    }
    this.#isLoading = false
  }

  async #loadBefore() {
    const stretch = this.#rows
    const { rows, previous } = await this.#fetch({ before: this.#previous })
    if (this.#rows !== stretch) return // another one is looked at by now
    this.#rows.unshift(...rows)
    this.#first -= rows.length
    this.#previous = previous
  }

  async #loadAfter() {
    const stretch = this.#rows
    const { rows, next } = await this.#fetch({ after: this.#next })
    if (this.#rows !== stretch) return
    this.#add(rows)
    this.#next = this.#afterNext(next)
  }

  #replace(rows, { previous, next }) {
    this.#rows = rows
    this.#first = 1
    this.#previous = previous
    this.#next = this.#afterNext(next)
    this.#replaced(this.isAtEnd)
  }

  /** What was heard of meanwhile has to be asked for. */
  #afterNext(next) {
    return next ?? (this.#newest > this.#lastSequence ? this.#lastSequence : null)
  }

  /** Forgets many at a time, as taking one from the front is as much work. */
  #add(rows) {
    this.#rows.push(...rows)
    if (this.#rows.length < 2 * most) return
    this.#first += this.#rows.splice(0, this.#rows.length - most).length
    this.#previous = this.#rows[0].sequence
  }

  get #lastSequence() {
    return this.#rows.at(-1)?.sequence ?? 0
  }

  async #fetch(place) {
    const response = await fetch(this.#url({ ...place, limit: pageSize }), {
      headers: { 'HX-Request': 'true', Accept: 'text/html' },
    })
    if (response.status === 401) location.href = '/login'
    if (!response.ok) throw new Error(`lines: ${response.status}`)
    const template = document.createElement('template')
    template.innerHTML = await response.text()
    const link = response.headers.get('Link') ?? ''
    const [, name, sequence] = /[?&](before|after)=(\d+)/.exec(link) ?? []
    return {
      rows: [...template.content.children].map(toRow),
      previous: name === 'before' ? Number(sequence) : null,
      next: name === 'after' ? Number(sequence) : null,
    }
  }
}

const toRow = (row) => ({ sequence: sequenceOf(row), html: row.outerHTML })
