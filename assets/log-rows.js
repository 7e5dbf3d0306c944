import { objectOf, summaryOf, treeOf } from './log-json.js'
import { showTimes } from './log-times.js'

/** Characters from which on a line that wraps shows its beginning only. */
const long = 2000

/** Makes the rows of a log as its reader likes them: times, long lines, and objects in a line each. */
export class LogRows {
  #settings
  #changed
  /** Texts of the rows that someone unfolded. */
  #unfolded = new Set()
  #isGrouped

  /** `changed` is called when a row has another height. In groups a line needn't say to which it belongs. */
  constructor(settings, { changed, isGrouped = false }) {
    this.#settings = settings
    this.#changed = changed
    this.#isGrouped = isGrouped
  }

  /** The element of a row, from its HTML; one that waits for it where there is none yet. */
  make(html) {
    const template = document.createElement('template')
    template.innerHTML = html ?? '<div class="line pending"><a></a><span></span></div>'
    const row = template.content.firstElementChild
    if (row.matches('.fold')) return row
    showTimes(row, this.#settings.times)
    const body = row.lastElementChild
    if (this.#isGrouped) withoutStep(body)
    const text = body.textContent
    const value = this.#settings.json && body.childElementCount === 0 ? objectOf(text) : null
    if (value) this.#layOut(row, { body, text, value })
    else if (this.#settings.wrap && text.length > long) this.#clamp(row, { body, text })
    return row
  }

  #layOut(row, { body, text, value }) {
    const isOpen = this.#unfolded.has(row.id || text)
    row.classList.add('json')
    body.replaceChildren(this.#button(row, { text, isOpen, name: 'fields' }), summaryOf(value))
    if (isOpen) body.append(treeOf(value))
  }

  #clamp(row, { body, text }) {
    const isOpen = this.#unfolded.has(row.id || text)
    row.classList.toggle('clamped', !isOpen)
    body.prepend(this.#button(row, { text, isOpen, name: 'the whole line' }))
  }

  #button(row, { text, isOpen, name }) {
    const html = row.outerHTML
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'unfold'
    button.setAttribute('aria-expanded', isOpen)
    button.setAttribute('aria-label', `Show ${name}`)
    button.addEventListener('click', () => {
      const key = row.id || text
      if (!this.#unfolded.delete(key)) this.#unfolded.add(key)
      const { number } = row
      const again = this.make(html)
      again.number = number
      row.replaceWith(again)
      again.querySelector('.unfold').focus({ preventScroll: true })
      this.#changed()
    })
    return button
  }
}

/** As BuildKit begins its lines: `#5 `. */
function withoutStep({ firstChild }) {
  if (firstChild?.nodeType === Node.TEXT_NODE)
    firstChild.data = firstChild.data.replace(/^#\d+ /, '')
}
