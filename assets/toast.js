// Sentences about a change, said once: they leave by themselves, unless one reads or holds them.

const place = document.getElementById('toasts')
const lifetime = 7000

/** Shows a sentence beside what changed without a new page. */
export function say(text) {
  const toast = document.createElement('p')
  toast.className = 'toast'
  const words = document.createElement('span')
  words.textContent = text
  toast.append(words)
  place.append(toast)
  keep(toast)
}

/** Those that came with the page: what is there from the start is not read out, so it is put in again. */
export function sayAll() {
  for (const toast of place.querySelectorAll('.toast')) {
    place.append(toast)
    keep(toast)
  }
}

function keep(toast) {
  const button = document.createElement('button')
  button.type = 'button'
  button.setAttribute('aria-label', 'Dismiss')
  button.textContent = '×'
  button.addEventListener('click', () => toast.remove())
  toast.append(button)
  const leave = () => (toast.matches(':hover, :focus-within') ? later() : toast.remove())
  const later = () => setTimeout(leave, lifetime)
  later()
}
