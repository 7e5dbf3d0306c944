import { showLocalTimes } from './log-times.js'

/** Rows drawn above and below what is seen. */
const margin = 20

/** Rows that are laid out at a time: browsers know no elements of any height. */
const maxRows = 500_000

/**
 * Draws the rows of a log that are in view, and only those, once for each frame: rows have one height and
 * are numbered without gaps, so every row's place is known without having it.
 */
export class LogScroller {
  /** Whether it stays at the end of the log. */
  following = true
  #lines
  #dress
  #drawn
  #followed
  #scroller
  #list
  #rowHeight
  /** The row before the first of those that are laid out. */
  #base
  /** Paused by the button, so that only the button ends it. */
  #isPinned = false
  #frame = null

  /**
   * `lines` has `first`, `last`, `get(number)` and `want(first, last)`, and `isAtEnd` where the end of the
   * log may be beyond the last. `dress` is called for each row in
   * view, `drawn` after all of them, `followed` when following begins or ends, `cleared` when the search is.
   */
  constructor(host, { lines, dress = () => {}, drawn, followed, cleared }) {
    this.#lines = lines
    this.#dress = dress
    this.#drawn = drawn
    this.#followed = followed
    this.#scroller = host.querySelector('.log-scroller')
    this.#list = host.querySelector('.log-lines')
    this.#base = lines.first - 1
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize)
    this.#rowHeight = parseFloat(getComputedStyle(this.#list).getPropertyValue('--row')) * rem
    this.#list.replaceChildren() // what the server drew is among the lines
    host.querySelector('.log-note')?.remove()
    host.classList.add('live')
    for (const control of host.querySelectorAll('[data-scripted]')) control.hidden = false
    this.#scroller.addEventListener('scroll', () => this.#scrolled(), { passive: true })
    new ResizeObserver(() => this.schedule()).observe(this.#scroller)
    host.querySelector('[data-log-follow]').addEventListener('click', () => this.#toggle())
    const query = host.querySelector('#log-query')
    document.addEventListener('keydown', (event) => this.#key(event, { query, cleared }))
    this.schedule()
  }

  /** The rows in view. */
  get list() {
    return this.#list
  }

  schedule() {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null
      this.#draw()
    })
  }

  follow(following) {
    if (following) this.#isPinned = false
    if (following !== this.following) {
      this.following = following
      this.#followed(following)
    }
    this.schedule()
  }

  /** Forgets what is drawn: the lines are others. */
  reset({ follow = true } = {}) {
    this.#list.replaceChildren()
    this.#list.style.minWidth = ''
    this.#base = this.#lines.first - 1
    if (follow) this.follow(true)
    else this.schedule()
  }

  /** Brings a row into view. */
  goTo(number) {
    if (number <= this.#base || number > this.#end) this.#layOut(number)
    const top = (number - this.#base - 1) * this.#rowHeight
    const { scrollTop, clientHeight } = this.#scroller
    this.follow(false)
    this.#list.style.height = `${(this.#end - this.#base) * this.#rowHeight}px`
    if (top < scrollTop || top + this.#rowHeight > scrollTop + clientHeight)
      this.#scroller.scrollTop = top - clientHeight / 2
  }

  #draw() {
    const height = this.#rowHeight
    if (this.following) this.#layOut(this.#lines.last)
    else this.#shift()
    this.#list.style.height = `${(this.#end - this.#base) * height}px`
    if (this.following) this.#scroller.scrollTop = this.#scroller.scrollHeight
    const { scrollTop, clientHeight } = this.#scroller
    const above = Math.floor(scrollTop / height) - margin
    const below = Math.ceil((scrollTop + clientHeight) / height) + margin
    const first = this.#base + Math.max(1, above + 1)
    const last = Math.min(this.#end, this.#base + below)
    this.#list.style.paddingTop = `${(first - this.#base - 1) * height}px`
    this.#drawRows(first, last)
    this.#lines.want(first, last)
    this.#drawn()
    // the widest line so far keeps the horizontal scrollbar from jumping
    const width = this.#list.scrollWidth
    if (width > this.#scroller.clientWidth) this.#list.style.minWidth = `${width}px`
  }

  /** The last of the rows that are laid out. */
  get #end() {
    return Math.min(this.#lines.last, this.#base + maxRows)
  }

  /** Lays out the rows around that one. */
  #layOut(number) {
    const { first, last } = this.#lines
    const lowest = Math.max(first - 1, last - maxRows)
    this.#base = Math.max(first - 1, Math.min(number - maxRows / 2, lowest))
  }

  /** Near an end of what is laid out, but not of the log: goes on there with the same rows in view. */
  #shift() {
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller
    const near = 1000 * this.#rowHeight
    const isNearTop = scrollTop < near && this.#base > this.#lines.first - 1
    const isNearEnd = scrollTop + clientHeight > scrollHeight - near && this.#end < this.#lines.last
    if (!isNearTop && !isNearEnd) return
    const number = scrollTop / this.#rowHeight + this.#base
    this.#layOut(Math.floor(number))
    this.#list.style.height = `${(this.#end - this.#base) * this.#rowHeight}px`
    this.#scroller.scrollTop = (number - this.#base) * this.#rowHeight
  }

  /** Keeps the rows that stay, and with them a selection of their text. */
  #drawRows(first, last) {
    for (const row of [...this.#list.children])
      if (!(row.number >= first && row.number <= last)) row.remove()
    let next = this.#list.firstElementChild
    for (let number = first; number <= last; number++) {
      let row = next?.number === number ? next : null
      if (row) next = row.nextElementSibling
      if (!row || (row.classList.contains('pending') && this.#lines.get(number) !== undefined)) {
        row?.remove()
        row = this.#row(number)
        this.#list.insertBefore(row, next)
      }
      this.#dress(row)
    }
  }

  #row(number) {
    const template = document.createElement('template')
    template.innerHTML =
      this.#lines.get(number) ??
      `<div class="line pending" data-seq="${number}"><a>${number}</a><span></span></div>`
    const row = template.content.firstElementChild
    row.number = number
    showLocalTimes(row)
    return row
  }

  #scrolled() {
    if (!this.following) this.#shift()
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller
    const atEnd =
      this.#lines.isAtEnd !== false &&
      this.#end === this.#lines.last &&
      scrollTop + clientHeight >= scrollHeight - this.#rowHeight
    if (atEnd && this.#isPinned) this.schedule()
    else this.follow(atEnd)
  }

  #toggle() {
    this.#isPinned = this.following
    this.follow(!this.following)
  }

  #key(event, { query, cleared }) {
    if (event.key === 'Escape' && event.target === query) {
      query.value = ''
      cleared()
      this.#scroller.focus()
    } else if (event.key === '/' && !event.target.closest('input, textarea, select, dialog')) {
      event.preventDefault()
      query.focus()
      query.select()
    }
  }
}
