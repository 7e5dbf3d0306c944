// The palette: a field that finds what there is and can be done, by the ARIA pattern of a combobox.

const dialog = document.createElement('dialog')
dialog.className = 'dialog palette'
dialog.setAttribute('aria-label', 'Search')
dialog.innerHTML = `<div>
  <header>
    <input class="input" type="text" role="combobox" aria-label="Search" aria-controls="found-box" aria-expanded="false" aria-autocomplete="list" maxlength="100" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="Apps, settings, actions" autofocus>
    <button type="button" class="btn" data-variant="outline" data-close>Close</button>
  </header>
  <div id="found-box"></div>
  <p class="visually-hidden" role="status"></p>
</div>`
document.body.append(dialog)
const field = dialog.querySelector('input')
const box = dialog.querySelector('#found-box')
const status = dialog.querySelector('[role=status]')

let request = null
let timer = null
let chosen = -1

export function open() {
  if (dialog.open || document.querySelector('dialog[open]')) return
  field.value = ''
  void find()
  dialog.showModal()
}

const options = () => [...box.querySelectorAll('[role=option]')]

async function find() {
  clearTimeout(timer)
  timer = null
  request?.abort()
  request = new AbortController()
  const { signal } = request
  try {
    const answer = await fetch(`/search?q=${encodeURIComponent(field.value)}`, {
      headers: { Accept: 'text/html', 'HX-Request': 'true' },
      signal,
    })
    const login = answer.headers.get('HX-Redirect')
    if (login) return void (location.href = login)
    if (!answer.ok) throw new Error(answer.status)
    const html = await answer.text()
    if (!signal.aborted) show(html)
  } catch (error) {
    if (!signal.aborted) show('<p class="found-none">Davit can’t be reached. Try again.</p>')
  } finally {
    if (request?.signal === signal) request = null
  }
}

function show(html) {
  box.innerHTML = html
  htmx.process(box)
  const count = options().length
  field.setAttribute('aria-expanded', count > 0)
  // what stays controlled is the list itself, as long as there is one
  field.setAttribute('aria-controls', count > 0 ? 'found' : 'found-box')
  choose(count > 0 ? 0 : -1)
  status.textContent =
    count === 0 ? box.textContent : `${count} ${count === 1 ? 'result' : 'results'}`
}

function choose(at) {
  chosen = at
  options().forEach((option, index) => option.setAttribute('aria-selected', index === at))
  const option = options()[at]
  if (!option) return field.removeAttribute('aria-activedescendant')
  field.setAttribute('aria-activedescendant', option.id)
  option.scrollIntoView({ block: 'nearest' })
}

field.addEventListener('input', () => {
  clearTimeout(timer)
  timer = setTimeout(find, 80)
})

const moves = {
  ArrowDown: (count) => (chosen + 1) % count,
  ArrowUp: (count) => (chosen + count - 1) % count,
  PageDown: (count) => Math.min(chosen + 8, count - 1),
  PageUp: () => Math.max(chosen - 8, 0),
}

field.addEventListener('keydown', async (event) => {
  if (event.isComposing) return
  const count = options().length
  if (event.key === 'Enter') {
    event.preventDefault()
    // what was typed last counts, also where its answer isn't there yet
    if (timer !== null || request) await find()
    options()[chosen]?.click()
  } else if (moves[event.key] && count > 0) {
    event.preventDefault()
    choose(moves[event.key](count))
  }
})

dialog.addEventListener('click', ({ target }) => {
  if (target === dialog) dialog.close()
})

dialog.addEventListener('close', () => {
  clearTimeout(timer)
  request?.abort()
  box.replaceChildren()
})
// an action's form is sent from here, and its refusal comes in a dialog of its own
box.addEventListener('htmx:before:swap', () => dialog.close())
