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
