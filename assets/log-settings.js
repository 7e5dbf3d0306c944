const key = 'davit.log'

/** How someone likes to read logs: remembered in this browser, and the same for all logs. */
export class LogSettings {
  wrap = matchMedia('(width < 40rem)').matches
  json = true
  /** local, utc or none */
  times = 'local'
  #host
  #changed

  /** `changed` is called when the rows have to be drawn in another way. */
  constructor(host, { changed }) {
    this.#host = host
    this.#changed = changed
    this.#read()
    for (const field of host.querySelectorAll('.log-options input')) {
      const [, name] = field.name.split('-')
      if (field.type === 'radio') field.checked = field.value === this.times
      else field.checked = this[name]
      field.addEventListener('change', () => {
        this[name] = field.type === 'radio' ? field.value : field.checked
        this.#write()
        this.#show()
        this.#changed()
      })
    }
    const menu = host.querySelector('.log-options')
    document.addEventListener('click', ({ target }) => {
      if (!menu.contains(target)) menu.open = false
    })
    const full = host.querySelector('[data-log-full]')
    full.addEventListener('click', () => this.#fill(full.ariaPressed !== 'true'))
    host.addEventListener('keydown', ({ key, target }) => {
      if (key !== 'Escape' || target.type === 'search') return
      if (menu.contains(target)) menu.open = false
      else this.#fill(false)
    })
    document.addEventListener('fullscreenchange', () => {
      if (!document.fullscreenElement) this.#fill(false)
    })
    this.#show()
  }

  #show() {
    this.#host.classList.toggle('wrap', this.wrap)
    this.#host.classList.toggle('no-times', this.times === 'none')
  }

  /** Over the whole screen where the browser has that, else over the whole page. */
  #fill(isFull) {
    this.#host.classList.toggle('full', isFull)
    this.#host.querySelector('[data-log-full]').ariaPressed = String(isFull)
    const done = isFull
      ? this.#host.requestFullscreen?.()
      : document.fullscreenElement && document.exitFullscreen()
    done?.catch?.(() => {})
  }

  #read() {
    try {
      const {
        wrap = this.wrap,
        json = true,
        times = 'local',
      } = JSON.parse(localStorage[key] ?? '{}')
      Object.assign(this, { wrap: wrap === true, json: json !== false })
      if (['local', 'utc', 'none'].includes(times)) this.times = times
    } catch {
      // kept by someone else, or nothing may be kept: as if it was the first time
    }
  }

  #write() {
    const { wrap, json, times } = this
    try {
      localStorage[key] = JSON.stringify({ wrap, json, times })
    } catch {
      // nothing may be kept here: it holds for this page
    }
  }
}
