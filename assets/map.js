// What the pointer or the keyboard is on: what stops with it, and what it needs, come to the front.

for (const kind of ['pointerover', 'focusin']) document.addEventListener(kind, choose)
for (const kind of ['pointerout', 'focusout']) document.addEventListener(kind, release)

// A part of the page that took the place of another knows nothing of that.
document.addEventListener('htmx:after:swap', () => {
  const target = document.querySelector('[data-map] [data-node]:is(:hover, :focus-visible)')
  if (target) choose({ target })
})

function choose({ target }) {
  const node = target.closest?.('[data-map] [data-node]')
  if (!node) return
  const drawing = node.closest('svg')
  const lines = [...drawing.querySelectorAll('[data-line]')].map((line) => {
    const [from, to] = line.dataset.line.split(' ')
    return { line, from, to }
  })
  const dependents = reached(node.dataset.node, lines, 'to', 'from')
  const needs = reached(node.dataset.node, lines, 'from', 'to')
  mark(drawing, true)
  for (const other of drawing.querySelectorAll('[data-node]')) {
    const at = other.dataset.node
    const own = needs.has(at) ? 'needed' : undefined
    show(other, other === node ? 'chosen' : dependents.has(at) ? 'dependent' : own)
  }
  const isOn = (reach, at) => reach.has(at) || at === node.dataset.node
  for (const { line, from, to } of lines) {
    const own = needs.has(to) && isOn(needs, from) ? 'needed' : undefined
    show(line, dependents.has(from) && isOn(dependents, to) ? 'dependent' : own)
  }
}

/** Back to what the server chose. */
function release({ target, relatedTarget }) {
  const node = target.closest?.('[data-map] [data-node]')
  if (!node || node.contains(relatedTarget)) return
  const drawing = node.closest('svg')
  const focused = drawing.querySelector('[data-node]:focus-visible')
  if (focused && focused !== node) return choose({ target: focused })
  mark(drawing, false)
  for (const other of drawing.querySelectorAll('[data-node], [data-line]'))
    show(other, other.dataset.kept || undefined)
}

/** The first time it keeps what was there. */
function show(element, value) {
  element.dataset.kept ??= element.dataset.mark ?? ''
  if (value) element.dataset.mark = value
  else delete element.dataset.mark
}

function mark(drawing, isChosen) {
  drawing.dataset.keptChosen ??= 'chosen' in drawing.dataset ? 'true' : ''
  if (isChosen || drawing.dataset.keptChosen) drawing.dataset.chosen = 'true'
  else delete drawing.dataset.chosen
}

/** By steps along lines from one of their ends to the other. */
function reached(start, lines, from, to) {
  const found = new Set()
  const waiting = [start]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop())
    for (const line of lines)
      if (line[from] === at && !found.has(line[to]) && line[to] !== start) {
        found.add(line[to])
        waiting.push(line[to])
      }
  return found
}
