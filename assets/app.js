// Behaviour that attributes can't say: the CSRF header, forms, dialogs, confirmation, fresh times.

// With its sse extension: htmx starts in a timer, and knows no extension that comes later.
import './vendor/htmx.min.js'
import { isOurs, lose } from './live.js'

const modal = document.getElementById('modal')
const announcer = document.getElementById('announcer')

document.addEventListener('htmx:config:request', ({ detail: { ctx } }) => {
  if (ctx.request.method !== 'GET')
    ctx.request.headers['X-CSRF-Token'] = cookies('svc_csrf').join(' ')
})

// An error that isn't a form with messages is shown in a dialog, and doesn't replace what was typed.
document.addEventListener('htmx:before:swap', (event) => {
  const { ctx, tasks } = event.detail
  const task = tasks.find(({ type }) => type === 'main')
  if (!task || !(ctx.response?.status >= 400) || !isAlert(task.fragment)) return
  if (isOurs(ctx.sourceElement)) return event.preventDefault()
  if (ctx.sourceElement.matches('.waits')) return // no one asked for it: it stands where the answer would
  task.target = modal
  task.swapSpec = { style: 'innerHTML' }
})

document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
  openModal()
  refreshTimes()
  announceChanges()
  // the address of a list that is searched is that of what is shown, so that Back leads there
  if (ctx?.sourceElement?.hasAttribute('data-listing'))
    history.replaceState(null, '', ctx.request.action)
  const said = ctx?.response?.headers?.get('X-Davit-Said')
  if (said) void import('./toast.js').then(({ say }) => say(decodeURIComponent(said)))
  const isRefused = ctx?.response?.status >= 400
  if (isRefused) {
    showRefusal(ctx)
    const form = refused.get(ctx)
    if (form) void typing?.then((forms) => forms.restoreSecrets(form))
  } else if (ctx && ctx.request.action === dialogPath)
    void typing?.then((forms) => forms.restore(modal))
})

/** The forms that were sent, which may be gone once the answer is drawn. */
const refused = new WeakMap()

/** The module that keeps what is typed: loaded as soon as there is something to keep, or to fill in. */
let typing = Object.keys(sessionStorage).some((name) => name.startsWith('davit-typed '))
  ? import('./forms.js')
  : null

document.addEventListener('input', async ({ target, isTrusted }) => {
  typing ??= import('./forms.js')
  const forms = await typing
  if (isTrusted) forms.touch(target)
  forms.clearError(target)
  forms.follow(target)
  forms.fillFrom(target)
})

/** The address that the open dialog came from. */
let dialogPath = null

const dialogOf = (form) => (form.closest('#modal') ? dialogPath : null)

/** Forms whose answer leads to another page, which may take long: they are not sent twice. */
const leaving = new Set()

addEventListener('pageshow', () => leaving.clear())

document.addEventListener('htmx:before:request', (event) => {
  const { ctx } = event.detail
  const form = sentForm(ctx)
  if (!form) return
  if (leaving.has(form)) return event.preventDefault()
  form.querySelector(':scope > [data-away]')?.remove()
  const isLogout = form.getAttribute('action') === '/auth/logout'
  void typing?.then((forms) => (isLogout ? forms.forgetAll() : forms.keep(form, dialogOf(form))))
})

document.addEventListener('htmx:before:response', (event) => {
  const { ctx } = event.detail
  const { status, headers } = ctx.response
  // a proxy that answers for a server that is away
  if (status >= 502 && status <= 504 && !headers.has('X-Request-Id')) {
    event.preventDefault()
    return isOurs(ctx.sourceElement) ? lose(ctx.sourceElement) : sayAway(ctx)
  }
  const form = sentForm(ctx)
  if (form && typing && status === 401 && headers.has('HX-Redirect')) {
    event.preventDefault() // the session has ended: what was typed is kept before the login is opened
    return void typing.then((forms) => {
      forms.keep(form, dialogOf(form))
      location.href = headers.get('HX-Redirect')
    })
  }
  if (status === 401 && ctx.sourceElement.matches('.waits')) event.preventDefault() // leads away when it is sent
  if (form && status >= 400) refused.set(ctx, form)
  if (form && status < 400) {
    void typing?.then((forms) => forms.forget(form))
    if (headers.has('HX-Redirect')) leave(form)
  }
  if (ctx.request.method === 'GET' && ctx.target?.closest('#modal')) dialogPath = ctx.request.action
})

/** Until the other page is there, or someone stopped waiting for it. */
function leave(form) {
  leaving.add(form)
  setTimeout(() => leaving.delete(form), 15_000)
}

document.addEventListener('htmx:error', ({ target, detail }) => {
  if (detail.ctx && !isOurs(target) && !target.matches?.('[hx-trigger]')) sayAway(detail.ctx)
})

const sentForm = ({ sourceElement }) =>
  sourceElement?.matches?.('form[method=post]') ? sourceElement : null

/** In the form that was sent, where something was typed into it; else in a dialog. */
async function sayAway(ctx) {
  const form = sentForm(ctx)
  announcer.textContent = 'Davit isn’t reachable.'
  if (typing && form?.querySelector('input:not([type=hidden]), textarea, select'))
    return (await typing).sayAway(form, ctx.sourceEvent?.submitter)
  modal.innerHTML =
    '<div id="unreachable" class="alert" data-variant="destructive" role="alert"><h2>Davit isn’t reachable</h2><section>Check the connection, then try again.</section></div>'
  openModal()
}

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

document.addEventListener('click', (event) => {
  const { target } = event
  closeMenus((menu) => !menu.contains(target))
  if (target.closest('[data-close]')) target.closest('dialog').close()
  const search = target.closest('[data-palette]')
  if (search && !event.ctrlKey && !event.metaKey && !event.shiftKey) openPalette(event)
  const button = target.closest('[data-copy]')
  if (button) void copyFrom(button)
  const notices = target.closest('[data-notices]')
  if (notices) void import('./notices.js').then(({ allow }) => allow(notices))
  const reveal = target.closest('[data-reveal]')
  if (reveal) setRevealed(reveal, reveal.getAttribute('aria-pressed') === 'false')
})

document.addEventListener('keydown', (event) => {
  const isAsked = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
  if (isAsked && !event.shiftKey && !event.altKey && document.querySelector('[data-palette]'))
    openPalette(event)
})

if (/Mac|iPhone|iPad/.test(navigator.platform))
  for (const key of document.querySelectorAll('[data-palette] kbd')) key.textContent = '⌘ K'

document.addEventListener('keydown', ({ key, target }) => {
  if (key !== 'Escape') return
  closeMenus((menu) => {
    if (menu.contains(target)) menu.querySelector('summary').focus()
    return true
  })
})

function closeMenus(isMeant) {
  for (const menu of document.querySelectorAll('.row-menu[open]'))
    if (isMeant(menu)) menu.open = false
}

function openPalette(event) {
  event.preventDefault()
  void import('./palette.js').then(({ open }) => open())
}

/** A revealed field becomes a password again when it is sent, so that the browser doesn't remember it as text. */
document.addEventListener('submit', ({ target }) => {
  for (const reveal of target.querySelectorAll('[data-reveal]')) setRevealed(reveal, false)
})

function setRevealed(button, isRevealed) {
  button.setAttribute('aria-pressed', isRevealed)
  const field = document.getElementById(button.dataset.reveal)
  field.type = isRevealed ? 'text' : 'password'
  field.toggleAttribute('data-secret', isRevealed)
}

async function copyFrom(button) {
  const { copied } = await import('./copy.js')
  await copied(button.dataset.copy, button, 'Copied.')
}

/** What had the focus before the first of the dialogs that replace each other opened. */
let opener = null

function openModal() {
  if (modal.firstElementChild && !modal.querySelector('dialog')) wrapInDialog()
  const dialog = modal.querySelector('dialog.modal:not([open])')
  if (!dialog) return
  if (document.activeElement !== document.body && !modal.contains(document.activeElement))
    opener = document.activeElement
  dialog.addEventListener('cancel', (event) => {
    if (dialog.getAttribute('closedby') === 'none') event.preventDefault() // for browsers without closedby
  })
  dialog.addEventListener('close', () => closed(dialog))
  dialog.showModal()
  dialog.querySelector('[aria-invalid="true"]')?.focus()
}

/** What is wrong in a form on a page may be far from its button; a dialog does it when it opens. */
function showRefusal({ sourceElement }) {
  if (modal.firstElementChild) return
  const form = document.getElementById(sourceElement.id) ?? document.getElementById('main')
  const wrong =
    form.querySelector('.field[data-invalid] :is(input:not([type=hidden]), select, textarea)') ??
    form.querySelector('.form > [role=alert]')
  if (!wrong) return
  wrong.focus()
  wrong.scrollIntoView({ block: 'center' })
}

function closed(dialog) {
  if (!modal.contains(dialog)) return
  void typing?.then((forms) => forms.keepClosed(dialog))
  modal.replaceChildren()
  opener?.focus()
  opener = null
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

/** As in src/web/times.tsx, but in the zone of the browser. */
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })
const minute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })

function refreshTimes() {
  for (const time of document.querySelectorAll('time[title]')) {
    const at = new Date(time.dateTime)
    time.title = exact.format(at)
    if ('ago' in time.dataset) time.textContent = ago(at, Date.now())
    if ('at' in time.dataset) time.textContent = minute.format(at)
    if ('day' in time.dataset) time.textContent = day.format(at)
  }
  for (const zone of document.querySelectorAll('form:has([type=datetime-local]) [name=zone]'))
    zone.value ||= exact.resolvedOptions().timeZone
}

function ago(at, now) {
  const minutes = (now - at) / 60_000
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${Math.floor(minutes)} min ago`
  if (minutes < 60 * 24) return `${Math.floor(minutes / 60)} h ago`
  if (minutes < 60 * 24 * 30) return `${Math.floor(minutes / 60 / 24)} d ago`
  return day.format(at)
}

/** All of a name: an app on a neighbouring port can add more, and the server knows which one is ours. */
const cookies = (name) =>
  document.cookie
    .split('; ')
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))

void typing?.then((forms) => {
  forms.forgetOthers()
  forms.restore(document)
})
if (document.querySelector('.toast')) void import('./toast.js').then(({ sayAll }) => sayAll())
announced = new Set(
  [...document.querySelectorAll('[data-announce]')].map((e) => e.dataset.announce),
)
// tabs scroll on a narrow screen: where one is must be seen
document
  .querySelector('.tabs-line [aria-current]')
  ?.scrollIntoView({ inline: 'center', block: 'nearest' })
if (document.querySelector('davit-chart')) void import('./chart.js')
if (localStorage.getItem('davit-notices'))
  void import('./notices.js').then(({ follow }) => follow())
refreshTimes()
setInterval(refreshTimes, 30_000)
