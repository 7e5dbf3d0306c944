import { RowHeights } from './log-heights.js'

/** Rows drawn above and below what is seen. */
const margin = 20

/** Rows that are laid out at a time: browsers know no elements of any height. */
const maxRows = 500_000

/**
 * Draws the rows of a log that are in view, and only those, once for each frame. A row that was not drawn
 * yet counts as one line; what it has more is learnt when it is, and what is looked at stays in its place.
 */
export class LogScroller {
  /** Whether it stays at the end of the log. */
  following = true
  #host
  #lines
  #rows
  #dress
  #drawn
  #followed
  #scroller
  #list
  #rowHeight
  #heights = new RowHeights()
  #width = 0
  /** Of the box, when it was drawn. */
  #height = 0
  /** The row before the first of those that are laid out. */
  #base
  /** How far down it was when that was last looked at. */
  #reached = 0
  /** The row to bring into view. */
  #target = null
  /** Paused by the button, so that only the button ends it. */
  #isPinned = false
  #frame = null

  /**
   * `lines` has `first`, `last`, `get(number)` and `want(first, last)`, and `isAtEnd` where the end of the
   * log may be beyond the last. `rows` makes elements of them. `dress` is called for each row in view,
   * `drawn` after all of them, `followed` when following begins or ends.
   */
  constructor(host, { lines, rows, dress = () => {}, drawn, followed }) {
    this.#lines = lines
    this.#rows = rows
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
    new ResizeObserver(() => this.#resized()).observe(this.#scroller)
    this.#host = host
    new ResizeObserver(() => this.#fit()).observe(document.body)
    addEventListener('resize', () => this.#fit())
    this.#fit()
    host.querySelector('[data-log-follow]').addEventListener('click', () => this.#toggle())
    host.querySelector('[data-log-newest]').addEventListener('click', () => this.#toNewest())
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
      this.#reached = this.#scroller.scrollTop
      this.#followed(following)
    }
    this.schedule()
  }

  /** Forgets what is drawn: the lines are others. */
  reset({ follow = true } = {}) {
    this.#forget()
    this.#base = this.#lines.first - 1
    if (follow) this.follow(true)
    else this.schedule()
  }

  /** Redraws everything: rows look different, or some came or went behind that one, which stays where it is. */
  redraw(number = this.#rowAt(this.#scroller.scrollTop)) {
    const offset = this.#top(number) - this.#scroller.scrollTop
    this.#forget()
    if (!this.following) {
      this.#setHeight()
      this.#scroller.scrollTop = this.#top(number) - offset
    }
    this.schedule()
  }

  /** Brings a row into view. */
  goTo(number) {
    this.follow(false)
    if (!this.#isInView(number)) this.#target = number
    this.#scroller.scrollIntoView({ block: 'nearest' })
    this.schedule()
  }

  focus() {
    this.#scroller.focus()
  }

  #draw() {
    if (this.following) this.#layOut(this.#lines.last)
    else if (this.#target !== null && !this.#isLaidOut(this.#target)) this.#layOut(this.#target)
    else this.#shift()
    this.#setHeight()
    this.#place()
    const { scrollTop, clientHeight } = this.#scroller
    this.#height = clientHeight
    const seen = this.#rowAt(scrollTop)
    const offset = this.#top(seen) - scrollTop
    const first = Math.max(this.#base + 1, seen - margin)
    const last = Math.min(this.#end, this.#rowAt(scrollTop + clientHeight) + margin)
    this.#list.style.paddingTop = `${this.#top(first)}px`
    this.#drawRows(first, last)
    if (this.#measure()) {
      this.#setHeight()
      if (this.following || this.#target !== null) this.#place()
      else this.#scroller.scrollTop = this.#top(seen) - offset
    }
    this.#reached = this.#scroller.scrollTop
    this.#target = null
    this.#lines.want(first, last)
    this.#drawn()
    // the widest line so far keeps the horizontal scrollbar from jumping
    const width = this.#list.scrollWidth
    if (width > this.#scroller.clientWidth) this.#list.style.minWidth = `${width}px`
  }

  #place() {
    if (this.following) this.#scroller.scrollTop = this.#scroller.scrollHeight
    else if (this.#target !== null)
      this.#scroller.scrollTop = this.#top(this.#target) - this.#scroller.clientHeight / 3
  }

  #setHeight() {
    this.#list.style.height = `${this.#top(this.#end + 1)}px`
  }

  /** Learns how high the rows are that are drawn; false when that was known. */
  #measure() {
    let changed = 0
    for (const row of this.#list.children) {
      const extra = row.getBoundingClientRect().height - this.#rowHeight
      changed += Math.abs(this.#heights.set(row.number, Math.abs(extra) < 0.5 ? 0 : extra))
    }
    return changed > 0
  }

  /** Where a row begins, in pixels below the first one that is laid out. */
  #top(number) {
    const extra = this.#heights.before(number) - this.#heights.before(this.#base + 1)
    return (number - this.#base - 1) * this.#rowHeight + extra
  }

  /** The row at that height. */
  #rowAt(y) {
    let [low, high] = [this.#base + 1, Math.max(this.#base + 1, this.#end)]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.#top(middle) <= y) low = middle
      else high = middle - 1
    }
    return low
  }

  #isLaidOut(number) {
    return number > this.#base && number <= this.#end
  }

  #isInView(number) {
    if (!this.#isLaidOut(number)) return false
    const { scrollTop, clientHeight } = this.#scroller
    return this.#top(number) >= scrollTop && this.#top(number + 1) <= scrollTop + clientHeight
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

  /** Near the end of the rows that are laid out, but not of the log: lays out more with the same rows in view. */
  #shift() {
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller
    const near = 1000 * this.#rowHeight
    const isNearTop = scrollTop < near && this.#base > this.#lines.first - 1
    const isNearEnd = scrollTop + clientHeight > scrollHeight - near && this.#end < this.#lines.last
    if (!isNearTop && !isNearEnd) return
    const number = this.#rowAt(scrollTop)
    const offset = this.#top(number) - scrollTop
    this.#layOut(number)
    this.#setHeight()
    this.#scroller.scrollTop = this.#top(number) - offset
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
        row = this.#rows.make(this.#lines.get(number))
        row.number = number
        this.#list.insertBefore(row, next)
      }
      this.#dress(row)
    }
  }

  /** Its end is in the window when its beginning is, where the page leaves it enough. */
  #fit() {
    const top = this.#scroller.getBoundingClientRect().top + scrollY
    const bar = parseFloat(getComputedStyle(document.body).paddingBottom) // where a phone has its sections
    const left = innerHeight - top - bar - 16
    const height = left > innerHeight * 0.35 ? left : innerHeight * 0.6 - bar
    this.#host.style.setProperty('--log-height', `${Math.floor(height)}px`)
  }

  #forget() {
    this.#heights.clear()
    this.#list.replaceChildren()
    this.#list.style.minWidth = ''
  }

  /** Lines break elsewhere in another width. */
  #resized() {
    const { clientWidth } = this.#scroller
    if (clientWidth === this.#width) return this.schedule()
    this.#width = clientWidth
    this.redraw()
  }

  #scrolled() {
    if (!this.following) this.#shift()
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller
    const isUp = scrollTop < this.#reached
    this.#reached = scrollTop
    // the box has another height or more lines, or what is told is from before: no one scrolled
    if (this.following && (!isUp || clientHeight !== this.#height)) return this.schedule()
    const atEnd =
      this.#lines.isAtEnd !== false &&
      this.#target === null &&
      this.#end === this.#lines.last &&
      scrollTop + clientHeight >= scrollHeight - this.#rowHeight
    if (atEnd && this.#isPinned) this.schedule()
    else this.follow(atEnd)
  }

  #toggle() {
    this.#isPinned = this.following
    this.follow(!this.following)
  }

  #toNewest() {
    this.follow(true)
    this.focus() // the button was hidden
  }
}

/** What leads to the end of the log, while that is out of sight. */
export function showNewest(host, { isAway, name = 'Jump to newest', fresh }) {
  const button = host.querySelector('[data-log-newest]')
  button.hidden = !isAway
  const text = `${name}${fresh > 0 ? ` · ${fresh.toLocaleString('en')} new` : ''}`
  if (button.textContent !== text) button.textContent = text
}
