// Loaded before the first paint: light or dark as was chosen, which the page says, or as the system is.
const root = document.documentElement
const system = matchMedia('(prefers-color-scheme: dark)')

const paint = () =>
  root.classList.toggle('dark', root.dataset.theme ? root.dataset.theme === 'dark' : system.matches)

paint()
system.addEventListener('change', paint)

document.addEventListener('submit', choose, true)

/** Without a new page, which would lose what was typed. */
function choose(event) {
  if (!event.target.matches('.theme-choice')) return
  event.preventDefault()
  event.stopImmediatePropagation()
  const { value } = event.submitter
  const isSystem = value === 'system'
  if (isSystem) delete root.dataset.theme
  else root.dataset.theme = value
  const secure = location.protocol === 'https:' ? ';secure' : ''
  document.cookie = `svc_theme=${value};path=/;samesite=lax;max-age=${isSystem ? 0 : 31536000}${secure}`
  for (const button of event.target.querySelectorAll('button'))
    button.setAttribute('aria-pressed', button === event.submitter)
  paint()
}
