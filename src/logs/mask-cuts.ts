/** Whether a text goes on before its beginning, or after its end: a secret may lie across a cut. */
export type Cuts = { before: boolean; after: boolean }

/** From an index to the one behind it. */
export type Range = [from: number, to: number]

/** What at a text's cuts may be the end or the beginning of one of the forms, or a part of its middle. */
export function atCuts(
  text: string,
  { forms, minLength, cuts }: { forms: string[]; minLength: number; cuts: Cuts },
): Range[] {
  return forms.flatMap((form) => {
    const head = cuts.before ? headWithin(text, form, minLength) : 0
    const tail = cuts.after ? tailWithin(text, form, minLength) : 0
    return [
      [0, head],
      [text.length - tail, text.length],
    ] satisfies Range[]
  })
}

/** Characters at the beginning of the text that are the end of the form, or all of the text if it is of its middle. */
function headWithin(text: string, form: string, minLength: number) {
  const start = text.slice(0, minLength)
  if (start.length < minLength) return 0
  for (let at = form.indexOf(start, 1); at >= 0; at = form.indexOf(start, at + 1)) {
    if (text.startsWith(form.slice(at))) return form.length - at
    if (form.startsWith(text, at)) return text.length
  }
  return 0
}

/** Characters at the end of the text that are the beginning of the form. */
function tailWithin(text: string, form: string, minLength: number) {
  const start = form.slice(0, minLength)
  const from = Math.max(0, text.length - form.length + 1)
  for (let at = text.indexOf(start, from); at >= 0; at = text.indexOf(start, at + 1))
    if (form.startsWith(text.slice(at))) return text.length - at
  return 0
}

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
