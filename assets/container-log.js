import { ContainerLogRows } from './container-log-rows.js'
import { ContainerLogStream } from './container-log-stream.js'
import { copyText, highlightText } from './log-marks.js'
import { localTime } from './log-times.js'

/** Rows drawn above and below what is seen. */
const margin = 20

/** Lines to begin with: with a filter they are looked through. */
const tails = { plain: '500', filtered: '10000' }

const words = {
  running: '',
  paused: 'Container paused · ',
  exited: 'Container stopped · ',
  created: 'Container not started · ',
  restarting: 'Container restarts · ',
  dead: 'Container dead · ',
  removing: 'Container goes · ',
  removed: 'Container gone · ',
  away: 'Engine away · ',
  unreadable: 'Not readable · ',
}

/** Draws the newest rows of a container's log that are in view, once for each frame. */
class ContainerLogView {
  #host
  #scroller
  #list
  #rowHeight
  #rows = new ContainerLogRows()
  #stream
  #query = ''
  #state = 'running'
  #connection = 'open'
  /** Paused by the button, so that only the button ends it. */
  #isPinned = false
  #frame = null

  constructor(host) {
    this.#host = host
    this.#scroller = host.querySelector('.log-scroller')
    this.#list = host.querySelector('.log-lines')
    this.#stream = new ContainerLogStream(host.dataset.containerLog, {
      takeLine: (html) => this.#take(html),
      tell: (name, data) => this.#hear(name, data),
    })
    this.#takeOver()
    this.#listen()
    this.#stream.open({ tail: tails.plain }, host.dataset.last)
    this.#schedule()
  }

  /** Begins with what the server drew. */
  #takeOver() {
    for (const row of this.#list.children) this.#rows.push(row.outerHTML)
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize)
    this.#rowHeight = parseFloat(getComputedStyle(this.#list).getPropertyValue('--row')) * rem
    this.#host.querySelector('.log-note')?.remove()
    this.#host.classList.add('live')
    for (const control of this.#host.querySelectorAll('[data-scripted]')) control.hidden = false
    if (innerWidth < 640) this.#toggleTimes()
  }

  #listen() {
    this.#scroller.addEventListener('scroll', () => this.#scrolled(), { passive: true })
    new ResizeObserver(() => this.#schedule()).observe(this.#scroller)
    this.#button('follow').addEventListener('click', () => {
      this.#isPinned = !this.#rows.isHeld
      this.#follow(this.#rows.isHeld)
    })
    this.#button('copy').addEventListener('click', () => this.#copy())
    this.#button('times').addEventListener('click', () => this.#toggleTimes())
    for (const name of ['stdout', 'stderr'])
      this.#button(name).addEventListener('click', () => this.#toggleOutput(name))
    this.#field('since').addEventListener('change', () => this.#choose())
    this.#field('from').addEventListener('change', () => this.#choose())
    let timer
    this.#field('query').addEventListener('input', () => {
      clearTimeout(timer)
      timer = setTimeout(() => this.#choose(), 300)
    })
    document.addEventListener('keydown', (event) => this.#key(event))
  }

  #take(html) {
    this.#rows.push(html)
    this.#schedule()
  }

  #hear(name, data) {
    if (name === 'state' || name === 'done') this.#state = data
    else this.#connection = name === 'refused' ? data : name
    if (name === 'done') this.#connection = 'done'
    this.#schedule()
  }

  /** Asks anew for what the tools say. */
  #choose() {
    const since = this.#field('since').value
    const from = this.#field('from')
    from.hidden = since !== 'time'
    if (since === 'time' && !from.value) return from.focus()
    this.#query = this.#field('query').value.toLowerCase()
    const parameters = {
      ...(this.#query && { search: this.#query }),
      ...(since === 'time' && { since: new Date(from.value).toISOString() }),
      ...(since && since !== 'time' && { since }),
      ...(this.#outputs.length === 1 && { stream: this.#outputs[0] }),
    }
    const filtered = parameters.search || parameters.stream
    this.#button('download').search = new URLSearchParams({ ...parameters, download: '1' })
    this.#rows.clear()
    this.#list.style.minWidth = ''
    this.#list.replaceChildren()
    const tail = since ? {} : { tail: filtered ? tails.filtered : tails.plain }
    this.#stream.open({ ...parameters, ...tail })
    this.#schedule()
  }

  get #outputs() {
    return ['stdout', 'stderr'].filter((name) => this.#isPressed(name))
  }

  /** One of them stays on. */
  #toggleOutput(name) {
    this.#press(name, !this.#isPressed(name))
    if (this.#outputs.length === 0) this.#press(name === 'stdout' ? 'stderr' : 'stdout', true)
    this.#choose()
  }

  #toggleTimes() {
    this.#press('times', !this.#isPressed('times'))
    this.#host.classList.toggle('no-times', !this.#isPressed('times'))
  }

  #schedule() {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null
      this.#draw()
    })
  }

  #draw() {
    const height = this.#rowHeight
    const count = this.#rows.length
    this.#list.style.height = `${count * height}px`
    if (!this.#rows.isHeld) this.#scroller.scrollTop = this.#scroller.scrollHeight
    const { scrollTop, clientHeight } = this.#scroller
    const first = Math.max(0, Math.floor(scrollTop / height) - margin)
    const last = Math.min(count, Math.ceil((scrollTop + clientHeight) / height) + margin)
    this.#list.style.paddingTop = `${first * height}px`
    this.#drawRows(first, last)
    highlightText(this.#list, this.#query)
    this.#showState()
    // the widest line so far keeps the horizontal scrollbar from jumping
    const width = this.#list.scrollWidth
    if (width > this.#scroller.clientWidth) this.#list.style.minWidth = `${width}px`
  }

  /** Keeps the rows that stay, and with them a selection of their text. */
  #drawRows(first, last) {
    const wanted = Array.from({ length: last - first }, (_, i) => this.#rows.at(first + i))
    const drawn = new Map([...this.#list.children].map((row) => [row.source, row]))
    const rows = wanted.map((html) => {
      const kept = drawn.get(html)
      drawn.delete(html)
      return kept ?? makeRow(html)
    })
    for (const row of drawn.values()) row.remove()
    let next = this.#list.firstElementChild
    for (const row of rows)
      if (row === next) next = next.nextElementSibling
      else this.#list.insertBefore(row, next)
    while (next) {
      const after = next.nextElementSibling
      next.remove()
      next = after
    }
  }

  #scrolled() {
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller
    const atEnd = scrollTop + clientHeight >= scrollHeight - this.#rowHeight
    if (atEnd === this.#rows.isHeld && !(atEnd && this.#isPinned)) this.#follow(atEnd)
    this.#schedule()
  }

  #follow(following) {
    if (following) this.#rows.release()
    else this.#rows.hold()
    this.#schedule()
  }

  #showState() {
    const { count, length, fresh, isHeld } = this.#rows
    this.#button('follow').textContent = isHeld ? 'Follow' : 'Pause'
    const number = (value) => value.toLocaleString('en')
    let state = `${number(length)} ${length === 1 ? 'line' : 'lines'}`
    if (count - fresh > length) state = `${state} here, ${number(count)} in all`
    if (isHeld) state = `Paused · ${state}${fresh > 0 ? ` · ${number(fresh)} new` : ''}`
    else if (this.#connection === 'open') state = `Following · ${state}`
    else if (this.#connection === 'broken') state = `Connecting again… · ${state}`
    else if (this.#connection !== 'done') state = this.#connection
    const shown = (words[this.#state] ?? '') + state
    const output = this.#host.querySelector('[data-log-state]')
    if (output.textContent !== shown) output.textContent = shown
    this.#host.dataset.following = !isHeld
  }

  async #copy() {
    const template = document.createElement('template')
    template.innerHTML = this.#rows.all().join('')
    const withTimes = this.#isPressed('times')
    const texts = [...template.content.children].map((row) => {
      const [time, text] = [row.querySelector('time'), row.lastElementChild.textContent]
      return withTimes && time ? `${time.textContent}Z ${text}` : text
    })
    await copyText(texts.join('\n'))
    const button = this.#button('copy')
    button.textContent = 'Copied'
    document.getElementById('announcer').textContent = `${texts.length} lines copied.`
    setTimeout(() => (button.textContent = 'Copy'), 1500)
  }

  #key(event) {
    const query = this.#field('query')
    if (event.key === 'Escape' && event.target === query && query.value) {
      query.value = ''
      this.#choose()
      this.#scroller.focus()
    } else if (event.key === '/' && !event.target.closest('input, textarea, select, dialog')) {
      event.preventDefault()
      query.focus()
    }
  }

  #isPressed(name) {
    return this.#button(name).ariaPressed === 'true'
  }

  #press(name, pressed) {
    this.#button(name).ariaPressed = String(pressed)
  }

  #button(name) {
    return this.#host.querySelector(`[data-log-${name}]`)
  }

  #field(name) {
    return this.#host.querySelector(`#log-${name}`)
  }
}

function makeRow(html) {
  const template = document.createElement('template')
  template.innerHTML = html
  const row = template.content.firstElementChild
  row.source = html
  const time = row.querySelector('time')
  if (time) {
    time.title = `${time.textContent} UTC`
    time.textContent = localTime(new Date(`${time.textContent.replace(' ', 'T')}Z`))
  }
  return row
}

for (const host of document.querySelectorAll('[data-container-log]')) new ContainerLogView(host)
