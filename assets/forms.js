// Keeps what is typed until the server has taken it: over a refusal, a reload, a login, and a server
// that is away. What is secret stays in memory, and so only over a refusal.

const prefix = 'davit-typed '
const lifetime = 3_600_000

const user = () => document.body.dataset.user ?? ''
const nameOf = (form) =>
  `${prefix}${location.pathname} ${form.getAttribute('action')} ${form.elements._method?.value ?? 'POST'}`

/** What was typed as a secret into the form that was sent last. */
let secrets = { form: '', values: new Map() }

/** Remembers the form as it is sent; `dialog` is the address it was opened by, if it is in one. */
export function keep(form, dialog) {
  const controls = controlsOf(form)
  secrets = {
    form: nameOf(form),
    values: new Map(controls.filter(isSecret).map(({ name, value }) => [name, value])),
  }
  const fields = controls
    .filter((control) => !isSecret(control))
    .map((control) => ({ name: control.name, value: control.value, checked: control.checked }))
  if (fields.length === 0) return
  const entry = { at: Date.now(), user: user(), dialog, fields }
  try {
    sessionStorage.setItem(nameOf(form), JSON.stringify(entry))
  } catch {
    // full, or not allowed: the form itself still has it
  }
}

export function forget(form) {
  sessionStorage.removeItem(nameOf(form))
  untouch(form)
}

/** What was typed is there when someone opens the dialog again, which it no longer does by itself. */
export function keepClosed(dialog) {
  for (const form of dialog.querySelectorAll('form[method=post]')) {
    const entry = entryOf(nameOf(form))
    if (entry) sessionStorage.setItem(nameOf(form), JSON.stringify({ ...entry, dialog: null }))
  }
}

export function forgetAll() {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(prefix)) sessionStorage.removeItem(name)
}

/** Fills in the forms that were sent from this page in vain, and opens the dialog that one was in. */
export function restore(root) {
  for (const form of root.querySelectorAll('form[method=post]')) {
    untouch(form)
    const entry = entryOf(nameOf(form))
    if (!entry) continue
    fill(form, entry.fields)
    sayRestored(form)
  }
  const here = `${prefix}${location.pathname} `
  const names = Object.keys(sessionStorage).filter((name) => name.startsWith(here))
  const dialog = root === document && names.map((name) => entryOf(name)?.dialog).find(Boolean)
  if (dialog) htmx.ajax('GET', dialog, { target: '#modal', swap: 'innerHTML' })
}

/** The secrets of a form that was refused, into the one that was drawn again: others may have been corrected since. */
export function restoreSecrets(refused) {
  if (nameOf(refused) !== secrets.form) return
  for (const form of document.querySelectorAll('form[method=post]'))
    if (nameOf(form) === secrets.form)
      for (const control of controlsOf(form)) {
        if (!secrets.values.has(control.name) || control.autocomplete === 'current-password')
          continue
        control.value = secrets.values.get(control.name)
        if (control.closest('.field')?.querySelector(':scope > [data-again]')) clearError(control)
      }
}

/** What is too old, or someone else's who was logged in here, is no one's to read. */
export function forgetOthers() {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(prefix) && user() !== '' && !entryOf(name)) sessionStorage.removeItem(name)
}

function entryOf(name) {
  const entry = JSON.parse(sessionStorage.getItem(name) ?? 'null')
  return entry?.user === user() && entry.at > Date.now() - lifetime ? entry : null
}

/** In the order of the form: several with one name are distinguished by it. */
function fill(form, fields) {
  const left = [...fields]
  for (const control of controlsOf(form)) {
    const isChoice = control.type === 'checkbox' || control.type === 'radio'
    const at = left.findIndex(
      ({ name, value }) => name === control.name && (!isChoice || value === control.value),
    )
    if (at < 0 || isSecret(control)) continue
    const [{ value, checked }] = left.splice(at, 1)
    if (isChoice) control.checked = checked
    else if (control.value !== value) {
      if (control.type === 'select-one' && ![...control.options].some((o) => o.value === value))
        control.add(new Option(value, value))
      control.value = value
    }
    control.dispatchEvent(new Event('input', { bubbles: true }))
  }
}

function sayRestored(form) {
  const note = document.createElement('p')
  note.className = 'note restored'
  note.setAttribute('role', 'status')
  const hasSecrets = controlsOf(form).some(isSecret)
  note.append(
    `This is what you typed before; it isn’t saved yet.${hasSecrets ? ' Enter passwords and secrets again.' : ''} `,
  )
  const discard = smallButton('Discard', () => {
    forget(form)
    form.reset()
    note.remove()
    form.querySelector('input:not([type=hidden]), textarea, select')?.focus()
  })
  note.append(discard)
  form.prepend(note)
  for (const details of form.querySelectorAll('details')) details.open = true
  for (let at = form.closest('details'); at; at = at.parentElement.closest('details'))
    at.open = true
}

const controlsOf = (form) =>
  [...form.elements].filter(
    ({ name, type }) => name && !['hidden', 'file', 'submit', 'button', 'fieldset'].includes(type),
  )

/** `data-secret` names the box that decides, or nothing: then it always is. */
function isSecret(control) {
  const box = control.dataset.secret
  if (control.type === 'password' || box === '') return true
  if (box === undefined) return false
  const boxes = [...control.form.elements].filter(
    ({ name, type }) => name === box && type === 'checkbox',
  )
  return boxes.length === 0 || boxes.some(({ checked }) => checked)
}

/** Fields that someone has touched, and what others were given: both outlast that a form is refused and drawn again. */
const touched = new Set()
const given = new Map()

const keyOf = (field) => `${nameOf(field.form)} ${field.name}`

function untouch(form) {
  for (const field of controlsOf(form)) {
    touched.delete(keyOf(field))
    given.delete(keyOf(field))
  }
}

/** A field that someone has typed into follows no other one any more, until it is empty. */
export function touch(field) {
  if (!field.form || !(field.dataset.follows || field.dataset.namedBy)) return
  if (field.dataset.namedBy && field.value === '') touched.delete(keyOf(field))
  else touched.add(keyOf(field))
}

/** What follows a field that is typed into, until someone touches it: a box that is ticked by a name, and a name. */
export function follow({ form, name, value }) {
  if (!form || !name) return
  for (const box of form.querySelectorAll('[data-follows]'))
    if (box.dataset.follows === name && !touched.has(keyOf(box)))
      box.checked = new RegExp(box.dataset.pattern, 'i').test(value)
  for (const field of form.querySelectorAll(`[data-named-by~="${CSS.escape(name)}"]`)) {
    const key = keyOf(field)
    const named = nameFrom(form, field.dataset.namedBy.split(' '))
    const isGiven = ['', given.get(key), named].includes(field.value) // the last where it was restored
    if (touched.has(key) || !isGiven) continue
    field.value = named
    given.set(key, field.value)
    clearError(field)
  }
}

/** A choice that stands for values of other fields, which can then be changed. */
export function fillFrom(choice) {
  const form = choice.dataset.fills && choice.closest('form')
  if (!form) return
  for (const [name, value] of Object.entries(JSON.parse(choice.dataset.fills))) {
    const field = form.elements[name]
    if (!field) continue
    field.value = value
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
}

/** What was said against a field is about what stood there before. */
export function clearError(field) {
  const frame = field.form && field.closest('.field, fieldset')
  const error = frame?.querySelector(':scope > .field-error')
  if (!error) return
  error.remove()
  frame.removeAttribute('data-invalid')
  for (const control of frame.querySelectorAll('[aria-invalid], [aria-describedby]')) {
    control.removeAttribute('aria-invalid')
    const notes = (control.getAttribute('aria-describedby') ?? '').split(' ')
    control.setAttribute('aria-describedby', notes.filter((id) => id !== error.id).join(' '))
  }
}

/** The last field that has something says most: a directory is named before its repository. */
function nameFrom(form, fields) {
  const field = fields.findLast((name) => form.elements[name]?.value)
  const value = form.elements[field]?.value ?? ''
  return lastPart(field === 'image' ? value.replace(/[:@][^/]*$/, '') : value)
}

/** As `nameOf` in src/projects/repository-choice.ts. */
const lastPart = (address) =>
  (address.trim().split(/[/:]/).findLast(Boolean) ?? '').replace(/\.git$/i, '').slice(0, 60)

/** Says that the form may not be saved, with a button that sends it again. */
export function sayAway(form, submitter) {
  const alert = document.createElement('div')
  alert.className = 'alert'
  alert.dataset.variant = 'destructive'
  alert.dataset.away = ''
  alert.setAttribute('role', 'alert')
  alert.innerHTML =
    '<h2>Davit isn’t reachable</h2><section><p>It may not be saved. What you typed is still here: send it again when Davit is back.</p></section>'
  const retry = smallButton('Try again', () =>
    form.requestSubmit(submitter?.isConnected ? submitter : undefined),
  )
  alert.querySelector('section').append(retry)
  form.prepend(alert)
  alert.scrollIntoView({ block: 'nearest' })
}

function smallButton(label, act) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'btn'
  button.dataset.variant = 'outline'
  button.dataset.size = 'sm'
  button.textContent = label
  button.addEventListener('click', act)
  return button
}
