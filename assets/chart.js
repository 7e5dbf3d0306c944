// Draws with uPlot the charts that pages have as a plain drawing, when they come into sight.

import { text } from './chart-units.js'

/** Loaded with the first chart that is seen. */
let library
const load = () => (library ??= Promise.all([import('./vendor/uplot.min.js'), styles()]))

/** Of the library, in the shadow of each chart: updates from the server leave it alone. */
async function styles() {
  const sheet = new CSSStyleSheet()
  const own = `:host{display:block}[hidden]{display:none}.plot{outline-offset:2px;touch-action:pan-y}
    .plot:focus-visible{outline:2px solid var(--ring);border-radius:4px}
    .value{display:flex;flex-wrap:wrap;gap:0 .75rem;min-height:1.25rem;margin:0;font-size:.75rem;color:var(--foreground)}
    .u-hz .u-cursor-x,.u-hz .u-cursor-y{border-color:var(--muted-foreground)}`
  const url = new URL('./vendor/uplot.css', import.meta.url)
  sheet.replaceSync((await (await fetch(url)).text()) + own)
  return sheet
}

class Chart extends HTMLElement {
  static observedAttributes = ['data-values']
  #plot = null
  #given = null
  #root = null
  #seen = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) void this.#draw()
  })
  #themes = new MutationObserver(() => this.#plot?.redraw())
  #sizes = new ResizeObserver(() => this.#fit())

  connectedCallback() {
    this.#seen.observe(this)
    this.#themes.observe(document.documentElement, { attributeFilter: ['class'] })
    this.#sizes.observe(this)
  }

  disconnectedCallback() {
    for (const observer of [this.#seen, this.#themes, this.#sizes]) observer.disconnect()
    this.#plot?.destroy()
    this.#plot = null
  }

  attributeChangedCallback() {
    if (this.#plot) void this.#draw()
  }

  async #draw() {
    this.#seen.disconnect()
    const [{ default: uPlot }, sheet] = await load()
    if (!this.isConnected) return
    const given = JSON.parse(this.dataset.values)
    const isSame =
      this.#plot &&
      ['unit', 'top', 'names'].every((key) => `${given[key]}` === `${this.#given[key]}`)
    this.#given = given
    if (isSame) return this.#update()
    this.#plot?.destroy()
    this.#root ??= this.#shadow(sheet)
    const place = this.#root.querySelector('.plot')
    place.setAttribute('aria-label', this.querySelector('title').textContent)
    place.setAttribute('aria-description', this.querySelector('desc').textContent)
    this.#plot = new uPlot(this.#options(uPlot), this.#data(), place)
    followFingers(this.#plot)
  }

  #update() {
    const { from, until } = this.#given
    this.#plot.setData(this.#data(), false)
    this.#plot.setScale('x', { min: from, max: until })
  }

  #shadow(sheet) {
    const root = this.attachShadow({ mode: 'open' })
    root.adoptedStyleSheets = [sheet]
    root.innerHTML =
      '<div class="plot" tabindex="0" role="img"></div><p class="value" role="status"></p><slot hidden></slot>'
    root.querySelector('.plot').addEventListener('keydown', (event) => this.#step(event))
    return root
  }

  /** Seconds, and the values of each line at them: a single one that is missing is bridged. */
  #data() {
    const { from, span, values } = this.#given
    const times = values[0].map((_, at) => from + span * (at + 1))
    const bridged = (line) =>
      line.map((value, at) =>
        value === null && line[at - 1] != null && line[at + 1] != null ? undefined : value,
      )
    return [times, ...values.map(bridged)]
  }

  #options(uPlot) {
    const { names, unit, top, from, until, span } = this.#given
    const colour = (name) => getComputedStyle(this).getPropertyValue(name)
    const axis = {
      stroke: () => colour('--muted-foreground'),
      font: `11px ${getComputedStyle(document.body).fontFamily}`,
      ticks: { show: false },
      grid: { stroke: () => colour('--border'), width: 1 },
    }
    const lines = [...this.querySelectorAll('.chart-line')]
    return {
      ...{ width: this.clientWidth, height: 132, padding: [8, 0, 0, 0], legend: { show: false } },
      scales: { x: { min: from, max: until }, y: { range: [0, top] } },
      axes: [
        {
          ...axis,
          size: 24,
          space: 64,
          values: (plot, ticks) => ticks.map((at) => wholeLabel(plot, at, Math.max(span, 60))),
        },
        {
          ...axis,
          ...{ side: 1, size: 62, gap: 6, splits: () => [0, top / 2, top] },
          values: (_, ticks) => ticks.map((value) => text(value, unit)),
        },
      ],
      series: [
        {},
        ...names.map((label, at) => ({
          label,
          width: lines[at].matches('.together') ? 1 : 1.5,
          stroke: () => getComputedStyle(lines[at]).stroke,
          dash: getComputedStyle(lines[at])
            .strokeDasharray.match(/[\d.]+/g)
            ?.map(Number),
          fill:
            names.length > 1
              ? undefined
              : () => getComputedStyle(this.querySelector('.chart-area')).fill,
          points: { show: false },
        })),
      ],
      cursor: {
        ...{ y: false, sync: { key: 'davit' }, drag: { x: false, y: false } },
        points: { size: 6 },
      },
      hooks: { setCursor: [(plot) => this.#say(plot.cursor.idx)] },
    }
  }

  #say(at) {
    const { names, values, unit, from, span } = this.#given
    const parts = names.flatMap((name, line) => {
      const value = at == null ? null : values[line][at]
      return value == null ? [] : [`${name ? `${name} ` : ''}${text(value, unit)}`]
    })
    if (at != null) parts.unshift(timeOf(from + span * (at + 1), span))
    const place = this.#root.querySelector('.value')
    place.replaceChildren(
      ...parts.map((part) => Object.assign(document.createElement('bdi'), { textContent: part })),
    )
  }

  /** The arrows go from value to value, Home and End to the first and last. */
  #step(event) {
    const { values } = this.#given
    const known = values[0].flatMap((_, at) =>
      values.some((line) => line[at] !== null) ? [at] : [],
    )
    const at = this.#plot.cursor.idx ?? Infinity
    const index = {
      ArrowLeft: known.findLast((one) => one < at) ?? known[0],
      ArrowRight: known.find((one) => one > at) ?? known.at(-1),
      Home: known[0],
      End: known.at(-1),
    }[event.key]
    if (index === undefined) return
    event.preventDefault()
    const left = this.#plot.valToPos(this.#plot.data[0][index], 'x')
    this.#plot.setCursor({ left, top: 0 })
  }

  #fit() {
    if (this.#plot && this.clientWidth > 0)
      this.#plot.setSize({ width: this.clientWidth, height: this.#plot.height })
  }
}

/** uPlot follows the mouse; a finger on the chart does the same. */
function followFingers(plot) {
  plot.over.addEventListener('pointermove', ({ pointerType, clientX }) => {
    if (pointerType === 'mouse') return
    const { left } = plot.over.getBoundingClientRect()
    plot.setCursor({ left: clientX - left, top: 0 })
  })
}

/** Of a tick; empty where the left edge would cut it. A letter is about 7 pixels wide. */
function wholeLabel(plot, at, span) {
  const label = timeOf(at, span)
  return plot.valToPos(at, 'x') < label.length * 3.5 ? '' : label
}

/** With the day where the values are an hour or more apart. */
function timeOf(seconds, span) {
  const time = { hour: '2-digit', minute: '2-digit', ...(span < 60 && { second: '2-digit' }) }
  const day = span >= 600 ? { day: 'numeric', month: 'short' } : {}
  return new Date(seconds * 1000).toLocaleString('en-GB', { ...day, ...time })
}

customElements.define('davit-chart', Chart)
