/** Copies a text, and says so on the button for a moment, and to those who do not see it. */
export async function copied(text, button, said) {
  await copyText(text)
  document.getElementById('announcer').textContent = said
  if (button.matches('.copy')) {
    const name = (button.dataset.label ??= button.ariaLabel)
    button.dataset.copied = ''
    button.ariaLabel = 'Copied'
    setTimeout(() => {
      delete button.dataset.copied
      button.ariaLabel = name
    }, 1500)
    return
  }
  const label = (button.dataset.label ??= button.textContent)
  button.textContent = 'Copied'
  setTimeout(() => (button.textContent = label), 1500)
}

/** `navigator.clipboard` is only there on https and localhost; installations on a LAN have neither. */
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  const dialog = document.querySelector('dialog[open]') // what is outside of it can't be selected
  ;(dialog ?? document.body).append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}
