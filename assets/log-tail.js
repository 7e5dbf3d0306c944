import { copied, highlightText } from './log-marks.js'
import { LogScroller } from './log-scroller.js'
import { LogTailRows } from './log-tail-rows.js'
import { LogTailStream } from './log-tail-stream.js'

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

/** The newest lines of a container that pass a filter, as they come. */
export class LogTail {
  #host
  #scroller
  #rows = new LogTailRows()
  #stream
  #query = ''
  #state = 'running'
  #connection = 'open'

  constructor(host) {
    this.#host = host
    for (const row of host.querySelector('.log-lines').children) this.#rows.push(row.outerHTML)
    this.#stream = new LogTailStream(host.dataset.log, {
      takeLine: (html) => this.#take(html),
      tell: (name, data) => this.#hear(name, data),
    })
    this.#scroller = new LogScroller(host, {
      lines: this.#rows,
      drawn: () => this.#drawn(),
      followed: (following) => (following ? this.#rows.release() : this.#rows.hold()),
      cleared: () => this.#query && this.#choose(), // else a paused log would begin again for nothing
    })
    this.#button('copy').addEventListener('click', () => this.#copy())
    this.#button('times').addEventListener('click', () => this.#toggleTimes())
    for (const name of ['stdout', 'stderr'])
      this.#button(name).addEventListener('click', () => this.#toggleOutput(name))
    for (const name of ['since', 'from'])
      this.#field(name).addEventListener('change', () => this.#choose())
    let timer
    this.#field('query').addEventListener('input', () => {
      clearTimeout(timer)
      timer = setTimeout(() => this.#choose(), 300)
    })
    if (innerWidth < 640) this.#toggleTimes()
    this.#stream.open({ tail: tails.plain }, host.dataset.tail)
  }

  #take(html) {
    this.#rows.push(html)
    this.#scroller.schedule()
  }

  #hear(name, data) {
    if (name === 'state' || name === 'done') this.#state = data
    else this.#connection = name === 'refused' ? data : name
    if (name === 'done') this.#connection = 'done'
    this.#scroller.schedule()
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
    this.#scroller.reset()
    const tail = since ? {} : { tail: filtered ? tails.filtered : tails.plain }
    this.#stream.open({ ...parameters, ...tail })
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

  #drawn() {
    highlightText(this.#scroller.list, this.#query)
    const { count, length, fresh } = this.#rows
    const { following } = this.#scroller
    this.#button('follow').textContent = following ? 'Pause' : 'Follow'
    const number = (value) => value.toLocaleString('en')
    let state = `${number(length)} ${length === 1 ? 'line' : 'lines'}`
    if (count - fresh > length) state = `${state} here, ${number(count)} in all`
    if (!following) state = `Paused · ${state}${fresh > 0 ? ` · ${number(fresh)} new` : ''}`
    else if (this.#connection === 'open') state = `Following · ${state}`
    else if (this.#connection === 'broken') state = `Connecting again… · ${state}`
    else if (this.#connection !== 'done') state = this.#connection
    const shown = (words[this.#state] ?? '') + state
    const output = this.#host.querySelector('[data-log-state]')
    if (output.textContent !== shown) output.textContent = shown
    this.#host.dataset.following = following
  }

  #copy() {
    const template = document.createElement('template')
    template.innerHTML = this.#rows.all().join('')
    const withTimes = this.#isPressed('times')
    const texts = [...template.content.children].map((row) => {
      const [time, text] = [row.querySelector('time'), row.lastElementChild.textContent]
      return withTimes && time ? `${time.textContent}Z ${text}` : text
    })
    return copied(texts.join('\n'), this.#button('copy'), `${texts.length} lines copied.`)
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
