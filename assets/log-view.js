import { LogLines } from './log-lines.js'
import { copyText, highlightText } from './log-marks.js'
import { LogSearch } from './log-search.js'
import { goToTimes, showLocalTimes } from './log-times.js'

/** Rows drawn above and below what is seen. */
const margin = 20

/** Rows that are laid out at a time: browsers know no elements of any height. */
const maxRows = 500_000

/**
 * Draws the rows of a log that are in view, and only those: rows have one height and lines are
 * numbered without gaps, so every line's place is known without having it.
 */
class LogView {
  #host
  #scroller
  #list
  #lines
  #search
  #stream
  #rowHeight
  /** The line before the first of those that are laid out. */
  #base = 0
  #following = true
  #selected = null
  /** Lines there were when following was paused. */
  #seen = 0
  #frame = null

  constructor(host) {
    this.#host = host
    this.#scroller = host.querySelector('.log-scroller')
    this.#list = host.querySelector('.log-lines')
    this.#stream = host.querySelector('#log-stream')
    const path = host.dataset.log
    this.#lines = new LogLines(path, () => this.#schedule())
    this.#search = new LogSearch(host, { path, moved: (line) => this.#showMatch(line) })
    const times = host.querySelector('.log-time')
    if (times) goToTimes(times, { path, moved: (line) => this.#show(line) })
    this.#takeOver()
    this.#listen()
    this.#openHash()
    this.#schedule()
  }

  /** Begins with what the server drew. */
  #takeOver() {
    for (const row of this.#list.children) {
      this.#lines.set(Number(row.dataset.seq), row.outerHTML)
      showLocalTimes(row)
    }
    this.#lines.first = Number(this.#list.dataset.first ?? 1)
    this.#lines.last = Number(this.#list.dataset.last)
    this.#base = this.#lines.first - 1
    this.#rowHeight = parseFloat(getComputedStyle(this.#list).getPropertyValue('--row'))
    this.#rowHeight *= parseFloat(getComputedStyle(document.documentElement).fontSize)
    this.#host.querySelector('.log-note')?.remove()
    this.#host.classList.add('live')
    for (const control of this.#host.querySelectorAll('[data-scripted]')) control.hidden = false
  }

  #listen() {
    this.#scroller.addEventListener('scroll', () => this.#scrolled(), { passive: true })
    new ResizeObserver(() => this.#schedule()).observe(this.#scroller)
    this.#list.addEventListener('click', (event) => this.#clickNumber(event))
    addEventListener('hashchange', () => this.#openHash())
    document.addEventListener('keydown', (event) => this.#key(event))
    this.#button('follow').addEventListener('click', () => this.#follow(!this.#following))
    this.#button('error').addEventListener('click', () => this.#search.search('error'))
    this.#button('copy').addEventListener('click', () => this.#copyLink())
    if (this.#stream) this.#listenToStream(this.#stream)
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
      this.#schedule()
    })
    stream.addEventListener('done', () => {
      this.#stream = null
      this.#schedule()
    })
    const connect = () => this.#stream && htmx.trigger(stream, 'connect')
    const again = () => setTimeout(connect, 5000)
    stream.addEventListener('htmx:response:error', again)
    stream.addEventListener('htmx:error', again)
    setTimeout(connect) // htmx, which was there before, starts in a timer too: it is ready by then
  }

  #schedule() {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null
      this.#draw()
    })
  }

  #draw() {
    const height = this.#rowHeight
    if (this.#following) this.#layOut(this.#lines.last)
    this.#list.style.height = `${(this.#end - this.#base) * height}px`
    if (this.#following) this.#scroller.scrollTop = this.#scroller.scrollHeight
    const { scrollTop, clientHeight } = this.#scroller
    const above = Math.floor(scrollTop / height) - margin
    const below = Math.ceil((scrollTop + clientHeight) / height) + margin
    const first = this.#base + Math.max(1, above + 1)
    const last = Math.min(this.#end, this.#base + below)
    this.#list.style.paddingTop = `${(first - this.#base - 1) * height}px`
    this.#drawRows(first, last)
    this.#lines.want(first, last)
    highlightText(this.#list, this.#search.query)
    this.#showState()
    // the widest line so far keeps the horizontal scrollbar from jumping
    const width = this.#list.scrollWidth
    if (width > this.#scroller.clientWidth) this.#list.style.minWidth = `${width}px`
  }

  /** The last of the lines that are laid out. */
  get #end() {
    return Math.min(this.#lines.last, this.#base + maxRows)
  }

  /** Lays out the lines around that one. */
  #layOut(sequence) {
    const { first, last } = this.#lines
    const lowest = Math.max(first - 1, last - maxRows)
    this.#base = Math.max(first - 1, Math.min(sequence - maxRows / 2, lowest))
  }

  /** Near an end of what is laid out, but not of the log: goes on there with the same lines in view. */
  #shift() {
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller
    const near = 1000 * this.#rowHeight
    const isNearTop = scrollTop < near && this.#base > this.#lines.first - 1
    const isNearEnd = scrollTop + clientHeight > scrollHeight - near && this.#end < this.#lines.last
    if (!isNearTop && !isNearEnd) return
    const line = scrollTop / this.#rowHeight + this.#base
    this.#layOut(Math.floor(line))
    this.#list.style.height = `${(this.#end - this.#base) * this.#rowHeight}px`
    this.#scroller.scrollTop = (line - this.#base) * this.#rowHeight
  }

  /** Keeps the rows that stay, and with them a selection of their text. */
  #drawRows(first, last) {
    for (const row of [...this.#list.children])
      if (!(row.dataset.seq >= first && row.dataset.seq <= last)) row.remove()
    let next = this.#list.firstElementChild
    for (let sequence = first; sequence <= last; sequence++) {
      let row = Number(next?.dataset.seq) === sequence ? next : null
      if (row) next = row.nextElementSibling
      if (!row || (row.classList.contains('pending') && this.#lines.get(sequence) !== undefined)) {
        row?.remove()
        row = this.#row(sequence)
        this.#list.insertBefore(row, next)
      }
      row.classList.toggle('selected', sequence === this.#selected)
      row.classList.toggle('match', sequence === this.#search.current)
    }
  }

  #row(sequence) {
    const template = document.createElement('template')
    template.innerHTML =
      this.#lines.get(sequence) ??
      `<div class="line pending" data-seq="${sequence}"><a>${sequence}</a><span></span></div>`
    const row = template.content.firstElementChild
    showLocalTimes(row)
    return row
  }

  #scrolled() {
    if (!this.#following) this.#shift()
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller
    const atEnd =
      this.#end === this.#lines.last && scrollTop + clientHeight >= scrollHeight - this.#rowHeight
    if (atEnd !== this.#following) this.#setFollowing(atEnd)
    this.#schedule()
  }

  #follow(following) {
    this.#setFollowing(following)
    this.#schedule()
  }

  #setFollowing(following) {
    this.#following = following
    this.#seen = this.#lines.last
  }

  #showState() {
    const count = this.#lines.last - this.#lines.first + 1
    const fresh = this.#lines.last - this.#seen
    const follow = this.#button('follow')
    follow.textContent = !this.#stream ? 'To the end' : this.#following ? 'Pause' : 'Follow'
    let state = `${count.toLocaleString('en')} ${count === 1 ? 'line' : 'lines'}`
    if (this.#stream && this.#following) state = `Following · ${state}`
    else if (this.#stream) state = `Paused · ${state}${fresh > 0 ? `, ${fresh} new` : ''}`
    this.#host.querySelector('[data-log-state]').textContent = state
    this.#host.dataset.following = this.#stream !== null && this.#following
  }

  #showMatch(sequence) {
    if (sequence) this.#goTo(sequence)
    else this.#schedule()
  }

  #show(sequence) {
    this.#select(sequence)
    this.#goTo(sequence)
  }

  #goTo(sequence) {
    if (sequence <= this.#base || sequence > this.#end) this.#layOut(sequence)
    const top = (sequence - this.#base - 1) * this.#rowHeight
    const { scrollTop, clientHeight } = this.#scroller
    this.#setFollowing(false)
    this.#list.style.height = `${(this.#end - this.#base) * this.#rowHeight}px`
    if (top < scrollTop || top + this.#rowHeight > scrollTop + clientHeight)
      this.#scroller.scrollTop = top - clientHeight / 2
    this.#schedule()
  }

  #openHash() {
    const sequence = Number(/^#L(\d+)$/.exec(location.hash)?.[1])
    if (!(sequence >= this.#lines.first && sequence <= this.#lines.last)) return
    this.#show(sequence)
    this.#scroller.scrollIntoView({ block: 'nearest' })
  }

  /** Without the jump that following the link would make. */
  #clickNumber(event) {
    const link = event.target.closest('a[href^="#L"]')
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    history.replaceState(null, '', link.hash)
    this.#select(Number(link.hash.slice(2)))
    this.#schedule()
  }

  #select(sequence) {
    this.#selected = sequence
    this.#button('copy').disabled = false
  }

  async #copyLink() {
    const button = this.#button('copy')
    await copyText(`${location.origin}${location.pathname}#L${this.#selected}`)
    button.textContent = 'Copied'
    document.getElementById('announcer').textContent = `Link to line ${this.#selected} copied.`
    setTimeout(() => (button.textContent = 'Copy link'), 1500)
  }

  #key(event) {
    if (event.key === 'Escape' && event.target.id === 'log-query') {
      this.#search.search('')
      this.#scroller.focus()
    } else if (event.key === '/' && !event.target.closest('input, textarea, select, dialog')) {
      event.preventDefault()
      this.#search.focus()
    }
  }

  #button(name) {
    return this.#host.querySelector(`[data-log-${name}]`)
  }
}

for (const host of document.querySelectorAll('[data-log]')) new LogView(host)
