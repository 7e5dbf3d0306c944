import { listHits } from './log-hits.js'

/** Matches asked for at a time. */
const pageSize = 500

/** Searches a log on the server, and steps through the lines found. */
export class LogSearch {
  /** What is searched for, in lower case; empty when nothing is. */
  query = ''
  /** The line of the match that was stepped to. */
  current = null
  #url
  #input
  #output
  #buttons
  #moved
  /** Where the matches are listed, if anywhere. */
  #list
  /** The matches loaded so far, of `#found` in all; null where the server doesn't count them. */
  #hits = []
  #found = null
  #nextCursor = null
  #pending = new AbortController()

  constructor(host, { url, moved }) {
    this.#url = url
    this.#moved = moved
    this.#input = host.querySelector('#log-query')
    this.#output = host.querySelector('.log-search .log-matches')
    this.#list = host.querySelector('.log-hits')
    const [previous, next] = (this.#buttons = [
      host.querySelector('[data-log-previous]'),
      host.querySelector('[data-log-next]'),
    ])
    previous.addEventListener('click', () => this.#step(-1))
    next.addEventListener('click', () => this.#step(1))
    let timer
    this.#input.addEventListener('input', () => {
      clearTimeout(timer)
      timer = setTimeout(() => this.search(this.#input.value), 250)
    })
    this.#input.form.addEventListener('submit', (event) => {
      event.preventDefault()
      clearTimeout(timer)
      if (this.#input.value.toLowerCase() !== this.query) this.search(this.#input.value)
      else this.#step(1)
    })
    this.#input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !event.shiftKey) return
      event.preventDefault()
      this.#step(-1)
    })
  }

  /** Goes on with what the page was opened with. */
  begin() {
    if (this.#input.value !== '') this.search(this.#input.value)
  }

  /** Finds all lines with this text and shows the first. */
  async search(text) {
    this.#input.value = text
    this.query = text.toLowerCase()
    this.#hits = []
    this.#nextCursor = null
    this.current = null
    this.#pending.abort()
    this.#pending = new AbortController()
    this.#output.textContent = ''
    if (this.query === '') this.#show()
    else if (await this.#load()) {
      this.#go(0)
      await this.#loadRest()
    }
  }

  /** The server stops a long search now and then; a screenful of matches is looked for all the same. */
  async #loadRest() {
    while (this.#nextCursor && this.#hits.length < pageSize && (await this.#load())) this.#draw()
  }

  async #step(by) {
    if (this.#hits.length === 0) return
    const at = this.#index + by
    if (at >= this.#hits.length && this.#nextCursor && !(await this.#load())) return
    this.#go((at + this.#hits.length) % this.#hits.length)
  }

  /** Adds a page of matches; false when a newer search has taken over or the server refused. */
  async #load() {
    const { signal } = this.#pending
    try {
      do await this.#loadOnce(signal)
      while (this.#hits.length === 0 && this.#nextCursor)
      return true
    } catch {
      if (!signal.aborted) this.#output.textContent = 'Search failed'
      return false
    }
  }

  async #loadOnce(signal) {
    const cursor = this.#nextCursor && { after: this.#nextCursor }
    const asked = { search: this.query, limit: pageSize, ...cursor }
    const response = await fetch(this.#url(asked), {
      headers: { Accept: 'application/json' },
      signal,
    })
    if (!response.ok) throw new Error(`search: ${response.status}`)
    const { items, nextCursor, found = null } = await response.json()
    this.#hits.push(...items)
    this.#nextCursor = nextCursor
    this.#found = found
  }

  #go(index) {
    this.current = this.#hits[index]?.seq ?? null
    this.#show()
  }

  #show() {
    this.#draw()
    this.#moved(this.current)
  }

  #draw() {
    const count = this.#hits.length
    for (const button of this.#buttons) button.disabled = count === 0
    if (this.query === '') this.#output.textContent = ''
    else if (count > 0) this.#output.textContent = `${this.#index + 1} of ${this.#total()}`
    else this.#output.textContent = 'No match'
    if (this.#list) listHits(this.#list, this.#hits, this.current)
  }

  get #index() {
    return this.#hits.findIndex(({ seq }) => seq === this.current)
  }

  #total() {
    const { length } = this.#hits
    if (this.#found !== null) return this.#found.toLocaleString('en')
    return `${length.toLocaleString('en')}${this.#nextCursor ? ' and more' : ''}`
  }
}

/** `/` leads to the search of a log, Escape out of it. */
export function searchKeys(host, cleared) {
  const query = host.querySelector('#log-query')
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && event.target === query) {
      query.value = ''
      cleared()
    } else if (event.key === '/' && !event.target.closest('input, textarea, select, dialog')) {
      event.preventDefault()
      query.focus()
      query.select()
    }
  })
}
