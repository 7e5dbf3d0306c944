import { FilteredLines } from './log-filtered.js'
import { LogGroups } from './log-groups.js'
import { LogLines, sequenceOf } from './log-lines.js'
import { copied } from './copy.js'
import { highlightText } from './log-marks.js'
import { LogProcesses } from './log-processes.js'
import { LogRows } from './log-rows.js'
import { LogScroller, showNewest } from './log-scroller.js'
import { LogSearch, searchKeys } from './log-search.js'
import { LogSettings } from './log-settings.js'
import { goToTimes } from './log-times.js'

/** What is said of the container whose log it is, unless it runs. */
const containerStates = {
  paused: 'Container paused · ',
  exited: 'Container stopped · ',
  created: 'Container not started · ',
  restarting: 'Container restarts · ',
  dead: 'Container dead · ',
  removing: 'Container is being removed · ',
  removed: 'Container removed · ',
  away: "Docker can't be reached · ",
  unreadable: "Can't be read · ",
}

/** A log whose lines have numbers: any of them can be found, linked to and shown. */
class NumberedLog {
  #host
  #lines
  #scroller
  #search
  #stream
  #selected = null
  /** The first line that is an error; 0 when none is known. */
  #firstError = 0
  /** Whether its stream is open, and what there is to say if it isn't. */
  #isConnected = false
  #trouble = 'Connecting…'
  #state = ''
  /** Lines there were when following was paused. */
  #seen = 0

  constructor(host) {
    this.#host = host
    const { log: path, logQuery } = host.dataset
    const url = (asked) => `${path}?${new URLSearchParams(asked)}${logQuery && `&${logQuery}`}`
    this.#stream = host.querySelector('#log-stream')
    const list = host.querySelector('.log-lines')
    const lines = new (logQuery || 'gaps' in list.dataset ? FilteredLines : LogLines)(url, {
      changed: () => this.#scroller.schedule(),
      replaced: (follow) => this.#scroller.reset({ follow }),
    })
    const redraw = (number) => this.#scroller.redraw(number)
    this.#lines = 'grouped' in list.dataset ? new LogGroups(lines, { changed: redraw }) : lines
    this.#lines.takeOver(list)
    const processes = new LogProcesses(host)
    this.#scroller = new LogScroller(host, {
      lines: this.#lines,
      rows: new LogRows(new LogSettings(host, { changed: redraw }), {
        changed: () => this.#scroller.schedule(),
        isGrouped: 'grouped' in list.dataset,
      }),
      dress: (row) => {
        const sequence = sequenceOf(row)
        row.classList.toggle('selected', sequence === this.#selected)
        row.classList.toggle('match', sequence === this.#search.current)
        processes.dress(row)
      },
      drawn: () => this.#drawn(),
      followed: (following) => this.#followed(following),
    })
    const moved = (line) => (line ? this.#goTo(line) : this.#scroller.schedule())
    this.#search = new LogSearch(host, { url, moved })
    searchKeys(host, () => {
      this.#search.search('')
      this.#scroller.focus()
    })
    const times = host.querySelector('.log-time')
    if (times) goToTimes(times, { url, moved: (line) => this.#show(line) })
    this.#scroller.list.addEventListener('click', (event) => this.#click(event))
    addEventListener('hashchange', () => this.#openHash())
    this.#button('copy').addEventListener('click', () => this.#copyLink())
    this.#firstError = Number(host.dataset.error ?? 0)
    this.#button('error').addEventListener('click', () => this.#show(this.#firstError))
    if (this.#stream) this.#listenToStream(this.#stream)
    this.#openHash()
    this.#search.begin()
  }

  /**
   * htmx keeps the connection and resumes it; drawing each message as it comes would be too slow. It
   * connects on request: before, what a fast failure has to say would come while no one listens.
   */
  #listenToStream(stream) {
    stream.addEventListener('htmx:sse:before:message', (event) => {
      const { data, event: name, id } = event.detail.message
      if (this.#isOfAnother(id)) return location.reload()
      if (name === 'state' || name === 'done') this.#hear(data)
      if (name ? name !== 'groups' : data.startsWith('<hx-partial')) return // for other parts of the page
      event.preventDefault()
      if (name) this.#regroup(JSON.parse(data))
      else this.#take(data)
    })
    const say = (isConnected) => (event) => {
      this.#isConnected = isConnected
      const status = event.detail.status ?? event.detail.ctx?.response?.status
      this.#trouble = status === 429 ? 'Not live' : 'Connection lost. Reconnecting…'
      this.#scroller.schedule()
    }
    const losses = ['sse:before:connection', 'sse:error', 'response:error', 'error']
    for (const lost of losses) stream.addEventListener(`htmx:${lost}`, say(false))
    stream.addEventListener('htmx:sse:after:connection', say(true))
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

  /** After a lost connection the address may have the log of another job, whose lines can't stand among these. */
  #isOfAnother(id) {
    const { job } = this.#host.dataset
    return job !== undefined && id?.includes(':') && !id.startsWith(`${job}:`)
  }

  #take(html) {
    const sequence = Number(/^<[^>]* id="L(\d+)"/.exec(html)?.[1])
    if (sequence > 0) this.#lines.set(sequence, html)
    else this.#lines.note(html)
    const [, classes] = /class="([^"]*)"/.exec(html)
    if (sequence > 0 && classes.split(' ').includes('error')) this.#firstError ||= sequence
    this.#scroller.schedule()
  }

  /** What became of what writes it; of a deployment its page says that itself. */
  #hear(state) {
    this.#state = state
    this.#scroller.schedule()
  }

  /** The heads of groups look otherwise, and those that are done fold. */
  #regroup(changed) {
    this.#lines.update(changed)
    this.#scroller.redraw()
  }

  #drawn() {
    highlightText(this.#scroller.list, this.#search.query)
    const { following } = this.#scroller
    const count = this.#lines.total
    const fresh = this.#lines.arrived - this.#seen
    const isFollowed = this.#stream !== null && following
    const follow = this.#button('follow')
    follow.hidden = this.#stream === null
    follow.textContent = following ? 'Pause' : 'Follow'
    this.#button('error').hidden = !(this.#firstError > 0)
    showNewest(this.#host, {
      isAway: !following,
      name: this.#stream ? 'Jump to newest' : 'Jump to the end',
      fresh: this.#stream ? fresh : 0,
    })
    const more = this.#lines.isWhole ? '' : '+'
    let state = `${count.toLocaleString('en')}${more} ${count === 1 ? 'line' : 'lines'}`
    if (this.#stream && !this.#isConnected) state = `${this.#trouble} · ${state}`
    else if (isFollowed) state = `Following · ${state}`
    else if (this.#stream)
      state = `Paused · ${state}${fresh > 0 ? `, ${fresh.toLocaleString('en')} new` : ''}`
    const output = this.#host.querySelector('[data-log-state]')
    const shown = (containerStates[this.#state] ?? '') + state
    if (output.textContent !== shown) output.textContent = shown
    this.#host.dataset.following = isFollowed
  }

  #followed(following) {
    this.#lines.following = following
    this.#seen = this.#lines.arrived
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
  }

  #click(event) {
    const head = event.target.closest('.fold')
    if (head) return this.#lines.toggle(head.number)
    const link = event.target.closest('a[href^="#L"]')
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault() // without the jump that following the link would make
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

for (const host of document.querySelectorAll('[data-log]')) new NumberedLog(host)
