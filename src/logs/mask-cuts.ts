/** Whether a text goes on before its beginning, or after its end: a secret may lie across a cut. */
export type Cuts = { before: boolean; after: boolean }

/** From an index to the one behind it. */
export type Range = [from: number, to: number]

/** The text with `***` in the place of the ranges, and of several that overlap. */
export function hide(text: string, ranges: Range[]) {
  let shown = ''
  let end = 0
  let hiddenTo = 0
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (to === from) continue
    if (from >= hiddenTo) {
      shown += `${text.slice(end, from)}***`
      hiddenTo = to
    }
    hiddenTo = Math.max(hiddenTo, to)
    end = hiddenTo
  }
  return shown + text.slice(end)
}
