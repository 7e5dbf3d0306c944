/** Milliseconds before it asks again: first, and at most. */
const waits = { first: 500, longest: 10_000 }

/**
 * The event stream of a log, kept going: after a break it goes on behind the last line that it has. It
 * reads no faster than lines are taken, and makes no event of the browser's for each.
 */
export class LogTailStream {
  #path
  #takeLine
  #tell
  #open = new AbortController()

  constructor(path, { takeLine, tell }) {
    this.#path = path
    this.#takeLine = takeLine
    this.#tell = tell
  }

  /** Begins anew; what was open before is closed. */
  open(parameters, lastId = '') {
    this.close()
    this.#open = new AbortController()
    void this.#run(new URLSearchParams({ ...parameters, format: 'html' }), {
      signal: this.#open.signal,
      place: { lastId, done: false },
    })
  }

  close() {
    this.#open.abort()
  }

  async #run(parameters, { signal, place }) {
    for (let wait = waits.first; !signal.aborted && !place.done; wait *= 2) {
      const response = await this.#ask(parameters, { signal, lastId: place.lastId })
      if (signal.aborted) return
      if (response?.status === 401) return void (location.href = '/login')
      if (response?.status === 404) return this.#tell('done', 'removed')
      if (response?.status === 422) return this.#tell('refused', await reason(response))
      if (response?.ok) {
        this.#tell('open', '')
        wait = waits.first
        await this.#read(response.body, { signal, place }).catch(() => {})
      }
      if (signal.aborted || place.done) return
      this.#tell('broken', '')
      await new Promise((resolve) => setTimeout(resolve, Math.min(wait, waits.longest)))
    }
  }

  #ask(parameters, { signal, lastId }) {
    const headers = { Accept: 'text/event-stream', ...(lastId && { 'Last-Event-ID': lastId }) }
    return fetch(`${this.#path}?${parameters}`, { headers, signal }).catch(() => null)
  }

  async #read(body, { signal, place }) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader()
    for (let rest = ''; ;) {
      const { done, value } = await reader.read()
      if (done || signal.aborted) return
      const events = (rest + value).split('\n\n')
      rest = events.pop()
      for (const event of events) this.#take(event, place)
    }
  }

  #take(event, place) {
    let id = ''
    let name = ''
    let data = ''
    for (const field of event.split('\n'))
      if (field.startsWith('data: ')) data += field.slice(6)
      else if (field.startsWith('id: ')) id = field.slice(4)
      else if (field.startsWith('event: ')) name = field.slice(7)
    if (id) place.lastId = id
    if (name === 'done') place.done = true
    if (name) this.#tell(name, data)
    else if (data) this.#takeLine(data)
  }
}

const reason = (response) =>
  response.json().then(
    ({ detail }) => detail,
    () => 'Davit refused that.',
  )
