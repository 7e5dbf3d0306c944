// Pages that follow what they show: says so when Davit can't be reached, and catches up when it is back.

/** Milliseconds for which a lost connection is no news: Davit restarts faster than that. */
const patience = 1500
const retryAfter = 3000

const notice = document.getElementById('away')
const crowded = document.getElementById('not-live')

/** Over the limit of streams: it is tried again, and one may have been closed by then. */
const tooMany = 429
let timer = null
const streams = new Set()

document.addEventListener('htmx:sse:error', ({ detail }) => {
  if (detail.status === tooMany) crowded.hidden = false
  else if (detail.status === 401) leave()
  else if (!(detail.status < 500)) noteLoss()
})
document.addEventListener('htmx:sse:after:connection', ({ detail }) => {
  streams.add(detail.connection)
  find()
})
document.addEventListener('htmx:sse:close', ({ detail }) => streams.delete(detail.connection))

/** Firefox reports a stream that is open when its page is left as an error. If the page stays, htmx reconnects. */
addEventListener('beforeunload', () => {
  for (const { reader } of streams) void reader?.cancel()
})

document.addEventListener('htmx:error', ({ target }) => {
  if (isOurs(target)) lose(target)
})

document.addEventListener('htmx:response:error', ({ target, detail }) => {
  const { status } = detail.ctx.response
  if (status === tooMany && isStream(target)) crowded.hidden = false
  if (!isOurs(target)) return
  if (status === 401 || status === 403) leave()
  else if (status === 404) miss()
  else tryAgain(target)
})

/**
 * Opens the page again, which leads to the login and back here, or says what became of it. Not while the
 * result of a deletion is read, nor over what is typed: that is kept when it is sent.
 */
function leave(what = 'dialog[open]') {
  if (document.querySelector(what) || isTyped())
    document.querySelector('#live-stream').replaceChildren()
  else location.reload()
}

/** What the page is about was removed: it says so itself where its log is still read. */
function miss() {
  leave('dialog[open], [data-gone]')
  const gone = document.querySelector('[data-gone]')
  if (!gone) return
  gone.parentElement.replaceChildren(gone)
  gone.hidden = false
}

const isTyped = () =>
  [...document.querySelectorAll('form[method=post] :is(input, textarea)')].some(
    ({ type, value, defaultValue, checked, defaultChecked }) =>
      type !== 'hidden' && (value !== defaultValue || checked !== defaultChecked),
  )

const isStream = (element) => element.matches('[hx-sse\\:connect]')

/** Whether it keeps the page up to date: its errors aren't responses to an action. */
export const isOurs = (element) =>
  element instanceof Element && element.closest('#live-stream, #live-refresh') !== null

/** Davit couldn't be asked by that element, which asks again. */
export function lose(element) {
  noteLoss()
  tryAgain(element)
}

function tryAgain(element) {
  setTimeout(() => {
    if (!element.isConnected) return
    htmx.trigger(element, element.id === 'live-refresh' ? 'changed' : 'retry')
  }, retryAfter)
}

function noteLoss() {
  timer ??= setTimeout(() => {
    notice.hidden = false
    document.documentElement.classList.add('is-away')
  }, patience)
}

function find() {
  crowded.hidden = true
  clearTimeout(timer)
  if (timer !== null && !notice.hidden) htmx.trigger(document.body, 'changed')
  timer = null
  notice.hidden = true
  document.documentElement.classList.remove('is-away')
  document.getElementById('unreachable')?.closest('dialog')?.close()
}

/** The tab says the state, too, as src/web/layout.tsx has it. */
document.addEventListener('htmx:after:swap', () => {
  const tab = document.getElementById('tab')
  if (!tab || document.title === tab.dataset.title) return
  document.title = tab.dataset.title
  const icon = document.querySelector('link[rel=icon]')
  icon.href = icon.href.replace(/(?<=circle.*fill%3D%22%23)\w{6}/, tab.dataset.dot)
})
