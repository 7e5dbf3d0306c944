import { FilteredLines } from './log-filtered.js'
import { LogLines } from './log-lines.js'
import { copied, highlightText } from './log-marks.js'
import { LogProcesses } from './log-processes.js'
import { LogScroller } from './log-scroller.js'
import { LogSearch } from './log-search.js'
import { LogTail } from './log-tail.js'
import { goToTimes } from './log-times.js'

/** A log whose lines are numbered without gaps: any of them can be found, linked to and gone to. */
class NumberedLog {
  #host
  #lines
  #scroller
  #search
  #stream
  #selected = null
  /** Lines there were when following was paused. */
  #seen = 0

  constructor(host) {
    this.#host = host
    const { log: path, logQuery } = host.dataset
    const url = (asked) => `${path}?${new URLSearchParams(asked)}${logQuery && `&${logQuery}`}`
    this.#stream = host.querySelector('#log-stream')
    this.#lines = new (logQuery ? FilteredLines : LogLines)(url, {
      changed: () => this.#scroller.schedule(),
      replaced: (follow) => this.#scroller.reset({ follow }),
    })
    this.#lines.takeOver(host.querySelector('.log-lines'))
    const processes = new LogProcesses(host)
    this.#scroller = new LogScroller(host, {
      lines: this.#lines,
      dress: (row) => {
        const sequence = Number(row.dataset.seq)
        row.classList.toggle('selected', sequence === this.#selected)
        row.classList.toggle('match', sequence === this.#search.current)
        processes.dress(row)
      },
      drawn: () => this.#drawn(),
      followed: (following) => this.#followed(following),
      cleared: () => this.#search.search(''),
    })
    const moved = (line) => (line ? this.#goTo(line) : this.#scroller.schedule())
    this.#search = new LogSearch(host, { url, moved })
    const times = host.querySelector('.log-time')
    if (times) goToTimes(times, { url, moved: (line) => this.#show(line) })
    this.#scroller.list.addEventListener('click', (event) => this.#clickNumber(event))
    addEventListener('hashchange', () => this.#openHash())
    this.#button('error').addEventListener('click', () => this.#search.search('error'))
    this.#button('copy').addEventListener('click', () => this.#copyLink())
    if (this.#stream) this.#listenToStream(this.#stream)
    this.#openHash()
  }

  /**
   * htmx keeps the connection and resumes it; drawing each message as it comes would be too slow. It
   * connects when it is told to: before, what a fast failure has to say would come while nobody listens.
   */
  #listenToStream(stream) {
    stream.addEventListener('htmx:sse:before:message', (event) => {
      const { data, event: name, id } = event.detail.message
      if (name) return
      event.preventDefault()
      this.#lines.set(Number(id), data)
      this.#scroller.schedule()
    })
    stream.addEventListener('done', () => {
      this.#stream = null
      this.#scroller.schedule()
    })
    const connect = () => this.#stream && htmx.trigger(stream, 'connect')
    const again = () => setTimeout(connect, 5000)
    stream.addEventListener('htmx:response:error', again)
    stream.addEventListener('htmx:error', again)
    setTimeout(connect) // htmx, which was there before, starts in a timer too: it is ready by then
  }

  #drawn() {
    highlightText(this.#scroller.list, this.#search.query)
    const { following } = this.#scroller
    const count = this.#lines.last - this.#lines.first + 1
    const more = this.#lines.isWhole ? '' : '+'
    const fresh = this.#lines.last - this.#seen
    this.#button('follow').textContent = !this.#stream
      ? 'To the end'
      : following
        ? 'Pause'
        : 'Follow'
    let state = `${count.toLocaleString('en')}${more} ${count === 1 ? 'line' : 'lines'}`
    if (this.#stream && following) state = `Following · ${state}`
    else if (this.#stream) state = `Paused · ${state}${fresh > 0 ? `, ${fresh} new` : ''}`
    this.#host.querySelector('[data-log-state]').textContent = state
    this.#host.dataset.following = this.#stream !== null && following
  }

  #followed(following) {
    this.#lines.following = following
    this.#seen = this.#lines.last
    if (following) this.#lines.toEnd().catch(() => this.#scroller.follow(false))
  }

  async #goTo(sequence) {
    const number = await this.#lines.reach(sequence).catch(() => undefined)
    if (number !== undefined) this.#scroller.goTo(number)
    return number !== undefined
  }

  #show(sequence) {
    this.#select(sequence)
    return this.#goTo(sequence)
  }

  async #openHash() {
    const sequence = Number(/^#L(\d+)$/.exec(location.hash)?.[1])
    if (!(sequence > 0) || !(await this.#goTo(sequence))) return
    this.#select(sequence)
    this.#scroller.schedule()
    this.#host.querySelector('.log-scroller').scrollIntoView({ block: 'nearest' })
  }

  /** Without the jump that following the link would make. */
  #clickNumber(event) {
    const link = event.target.closest('a[href^="#L"]')
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    history.replaceState(null, '', link.hash)
    this.#select(Number(link.hash.slice(2)))
    this.#scroller.schedule()
  }

  #select(sequence) {
    this.#selected = sequence
    this.#button('copy').disabled = false
  }

  #copyLink() {
    const link = `${location.origin}${location.pathname}#L${this.#selected}`
    return copied(link, this.#button('copy'), `Link to line ${this.#selected} copied.`)
  }

  #button(name) {
    return this.#host.querySelector(`[data-log-${name}]`)
  }
}

for (const host of document.querySelectorAll('[data-log]'))
  new ('tail' in host.dataset ? LogTail : NumberedLog)(host)
