// Behaviour that attributes cannot say: the CSRF header, dialogs, confirmation, fresh times.

const modal = document.getElementById('modal')
const announcer = document.getElementById('announcer')

document.addEventListener('htmx:config:request', ({ detail: { ctx } }) => {
  if (ctx.request.method !== 'GET')
    ctx.request.headers['X-CSRF-Token'] = cookies('svc_csrf').join(' ')
})

document.addEventListener('htmx:sse:error', ({ detail }) => {
  if (detail.status === 401) location.reload() // which leads to the login, and back here
})

// A refusal that is no form drawn again goes into a dialog, and does not replace what was typed.
document.addEventListener('htmx:before:swap', (event) => {
  const { ctx, tasks } = event.detail
  const task = tasks.find(({ type }) => type === 'main')
  if (!task || !(ctx.response?.status >= 400) || !isAlert(task.fragment)) return
  if (ctx.sourceElement.matches('[hx-trigger*="every"]')) return event.preventDefault()
  task.target = modal
  task.swapSpec = { style: 'innerHTML' }
})

document.addEventListener('htmx:after:swap', () => {
  openModal()
  announceChanges()
})

document.addEventListener('htmx:error', ({ target, detail }) => {
  if (!detail.ctx || target.matches?.('[hx-trigger]')) return
  announcer.textContent = 'Davit does not answer. Check the connection, then try again.'
  modal.innerHTML = `<div class="alert" data-variant="destructive" role="alert"><h2>${announcer.textContent}</h2></div>`
  openModal()
})

document.addEventListener('htmx:confirm', (event) => {
  event.preventDefault()
  const { ctx, issueRequest, dropRequest } = event.detail
  const dialog = document.getElementById('confirm')
  dialog.querySelector('h2').textContent = ctx.confirm
  dialog.querySelector('[value=confirm]').textContent =
    event.target.querySelector('[name=_answer]')?.value ?? 'Continue'
  dialog.returnValue = 'cancel'
  dialog.addEventListener(
    'close',
    () => (dialog.returnValue === 'confirm' ? issueRequest() : dropRequest()),
    { once: true },
  )
  dialog.showModal()
})

document.addEventListener('click', ({ target }) => {
  if (target.closest('[data-close]')) target.closest('dialog').close()
  const button = target.closest('[data-copy]')
  if (button) void copyFrom(button)
})

async function copyFrom(button) {
  const { copied } = await import('./log-marks.js')
  await copied(button.dataset.copy, button, 'Copied.')
}

/** What had the focus before the first of the dialogs that replace each other opened. */
let opener = null

function openModal() {
  if (modal.firstElementChild && !modal.querySelector('dialog')) wrapInDialog()
  const dialog = document.querySelector('dialog.modal:not([open])')
  if (!dialog) return
  if (document.activeElement !== document.body && !modal.contains(document.activeElement))
    opener = document.activeElement
  dialog.addEventListener('close', () => closed(dialog))
  dialog.showModal()
  dialog.querySelector('[aria-invalid="true"]')?.focus()
}

function closed(dialog) {
  if (dialog.closest('main')) return leave()
  if (!modal.contains(dialog)) return
  modal.replaceChildren()
  opener?.focus()
  opener = null
}

/** A dialog that is a page of its own has nothing behind it. */
function leave() {
  if (history.length > 1) history.back()
  else location.href = '/dashboard'
}

function wrapInDialog() {
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog modal'
  dialog.setAttribute('aria-label', 'Refused')
  const box = document.createElement('div')
  box.innerHTML =
    '<footer class="form-actions"><button type="button" class="btn" data-close autofocus>Close</button></footer>'
  box.prepend(...modal.childNodes)
  dialog.append(box)
  modal.append(dialog)
}

const isAlert = (fragment) =>
  fragment.childElementCount === 1 && fragment.firstElementChild.matches('.alert')

/** Says what changed on its own account to those who do not see it. */
let announced = new Set()
function announceChanges() {
  const texts = [...document.querySelectorAll('[data-announce]')].map((e) => e.dataset.announce)
  const fresh = texts.filter((text) => !announced.has(text))
  announced = new Set(texts)
  if (fresh.length > 0) announcer.textContent = fresh.join(' ')
}

function refreshTimes() {
  for (const time of document.querySelectorAll('time[data-ago]'))
    time.textContent = ago(new Date(time.dateTime), Date.now())
}

/** In the words of src/web/times.tsx. */
function ago(at, now) {
  const minutes = (now - at) / 60_000
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${Math.floor(minutes)} min ago`
  if (minutes < 60 * 24) return `${Math.floor(minutes / 60)} h ago`
  if (minutes < 60 * 24 * 30) return `${Math.floor(minutes / 60 / 24)} d ago`
  return at.toISOString().slice(0, 10)
}

/** All of a name: an app on a neighbouring port can add more, and the server knows which one is ours. */
const cookies = (name) =>
  document.cookie
    .split('; ')
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))

// On a narrow screen the places of the top bar scroll; where one is must be seen.
document.querySelector('.top-bar [aria-current]')?.scrollIntoView({ block: 'nearest' })

openModal()
announced = new Set(
  [...document.querySelectorAll('[data-announce]')].map((e) => e.dataset.announce),
)
refreshTimes()
setInterval(refreshTimes, 30_000)
