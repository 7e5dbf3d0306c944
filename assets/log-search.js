/** Searches a log on the server, and steps through the lines found. */
export class LogSearch {
  /** What is searched for, in lower case; empty when nothing is. */
  query = ''
  /** The line of the match that was stepped to. */
  current = null
  #path
  #input
  #output
  #buttons
  #moved
  /** Sequences of the matches loaded so far, of `#found` in all. */
  #hits = []
  #found = 0
  #nextCursor = null
  #pending = new AbortController()

  constructor(host, { path, moved }) {
    this.#path = path
    this.#moved = moved
    this.#input = host.querySelector('#log-query')
    this.#output = host.querySelector('.log-matches')
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
    this.#input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return
      event.preventDefault()
      clearTimeout(timer)
      if (this.#input.value.toLowerCase() !== this.query) this.search(this.#input.value)
      else this.#step(event.shiftKey ? -1 : 1)
    })
  }

  focus() {
    this.#input.focus()
    this.#input.select()
  }

  /** Finds all lines with this text and goes to the first. */
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
    else if (await this.#load()) this.#go(0)
  }

  async #step(by) {
    if (this.#hits.length === 0) return
    const at = this.#hits.indexOf(this.current) + by
    if (at >= this.#hits.length && this.#nextCursor && !(await this.#load())) return
    this.#go((at + this.#hits.length) % this.#hits.length)
  }

  /** Adds a page of matches; false when a newer search has taken over or the server refused. */
  async #load() {
    const { signal } = this.#pending
    const parameters = new URLSearchParams({ search: this.query, limit: '500' })
    if (this.#nextCursor) parameters.set('after', this.#nextCursor)
    try {
      const response = await fetch(`${this.#path}?${parameters}`, {
        headers: { Accept: 'application/json' },
        signal,
      })
      if (!response.ok) throw new Error(`search: ${response.status}`)
      const { items, nextCursor, found } = await response.json()
      this.#hits.push(...items.map(({ seq }) => seq))
      this.#nextCursor = nextCursor
      this.#found = found
      return true
    } catch {
      if (!signal.aborted) this.#output.textContent = 'Search failed'
      return false
    }
  }

  #go(index) {
    this.current = this.#hits[index] ?? null
    this.#show(index)
  }

  #show(index = 0) {
    const count = this.#hits.length
    for (const button of this.#buttons) button.disabled = count === 0
    if (this.query === '') this.#output.textContent = ''
    else if (count > 0)
      this.#output.textContent = `${index + 1} of ${this.#found.toLocaleString('en')}`
    else this.#output.textContent = 'No match'
    this.#moved(this.current)
  }
}
