/** Marks a text wherever the rows show it, without touching the rows; older browsers go without. */
export function highlightText(list, query) {
  if (!globalThis.Highlight) return
  if (query === '') return CSS.highlights.delete('log-search')
  const ranges = []
  for (const row of list.children) {
    const walker = document.createTreeWalker(row.lastElementChild, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) addRanges(ranges, walker.currentNode, query)
  }
  CSS.highlights.set('log-search', new Highlight(...ranges))
}

function addRanges(ranges, node, query) {
  const text = node.data.toLowerCase()
  for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length)) {
    const range = new Range()
    range.setStart(node, at)
    range.setEnd(node, Math.min(at + query.length, node.length))
    ranges.push(range)
  }
}

/** Copies a text, and says so on the button for a moment, and to those who do not see it. */
export async function copied(text, button, said) {
  await copyText(text)
  const label = (button.dataset.label ??= button.textContent)
  button.textContent = 'Copied'
  document.getElementById('announcer').textContent = said
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
