// Notices of the browser while a page of Davit is open, of what the user's browser channels get.

const key = 'davit-notices'

/** Permission is asked for by a click, in each browser. */
export async function allow(button) {
  const permission = await globalThis.Notification?.requestPermission()
  const isAllowed = permission === 'granted'
  if (isAllowed) localStorage.setItem(key, 'on')
  const { say } = await import('./toast.js')
  say(isAllowed ? 'This browser shows notices.' : whyNot())
  if (!isAllowed) return
  button.remove()
  follow()
}

const whyNot = () =>
  isSecureContext
    ? 'This browser doesn’t allow notices of Davit. Change that in its settings for this site.'
    : 'Browsers show notices only over HTTPS.'

export function follow() {
  if (localStorage.getItem(key) !== 'on' || globalThis.Notification?.permission !== 'granted')
    return
  // one page of several shows them: the next one takes over when it is closed
  void navigator.locks.request(key, () => new Promise(listen))
}

function listen() {
  const stream = new EventSource('/settings/events/notices')
  stream.onmessage = ({ data }) => {
    const { id, title, text, url } = JSON.parse(data)
    const notice = new Notification(title, { body: text, tag: id })
    notice.onclick = () => {
      focus()
      const { pathname, search } = new URL(url)
      location.assign(location.origin + pathname + search)
    }
  }
}
