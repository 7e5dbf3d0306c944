/** Shows the times of rows in UTC, as the server writes them, or as the clock of the reader does. */
export function showTimes(row, zone) {
  for (const time of row.querySelectorAll('time')) {
    const at = new Date(time.dateTime)
    const [date, clock, rest] = zone === 'utc' ? utcParts(at) : localParts(at)
    time.replaceChildren(part('date', `${date} `), clock, part('fraction', rest))
    time.title = zone === 'utc' ? `${localTime(at)} local time` : `${utcParts(at).join(' ')} UTC`
  }
}

export function localTime(at) {
  const [date, clock, rest] = localParts(at)
  return `${date} ${clock}${rest}`
}

function localParts(at) {
  const two = (number) => String(number).padStart(2, '0')
  const date = `${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')
  return [date, clock, `.${String(at.getMilliseconds()).padStart(3, '0')}`]
}

function utcParts(at) {
  const text = at.toISOString()
  return [text.slice(5, 10), text.slice(11, 19), text.slice(19, 23)]
}

/** What a narrow screen leaves out. */
function part(name, text) {
  const element = document.createElement('span')
  element.className = name
  element.textContent = text
  return element
}

/** Goes to the first line that was written at a time or after it. */
export function goToTimes(form, { url, moved }) {
  const output = form.querySelector('output')
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const since = new Date(form.querySelector('input').value).toISOString()
    const response = await fetch(url({ since, limit: 1 }), {
      headers: { Accept: 'application/json' },
    }).catch(() => null)
    if (!response?.ok) return void (output.textContent = "Davit can't be reached")
    const { items } = await response.json()
    output.textContent = items.length > 0 ? '' : 'Nothing was written since then'
    if (items.length > 0) moved(items[0].seq)
  })
}
