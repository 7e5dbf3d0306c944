/** Shows the times of rows as the clock of the reader does; the server writes them in UTC. */
export function showLocalTimes(row) {
  for (const time of row.querySelectorAll('time')) {
    const written = time.dateTime || `${time.textContent.replace(' ', 'T')}Z`
    time.textContent = localTime(new Date(written))
    time.title = written
  }
}

export function localTime(at) {
  const two = (number) => String(number).padStart(2, '0')
  const date = `${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')
  return `${date} ${clock}.${String(at.getMilliseconds()).padStart(3, '0')}`
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
    if (!response?.ok) return void (output.textContent = 'Davit does not answer')
    const { items } = await response.json()
    output.textContent = items.length > 0 ? '' : 'Nothing was written since'
    if (items.length > 0) moved(items[0].seq)
  })
}
