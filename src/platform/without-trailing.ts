/** A text without what stands at its end of a character: `/x+$/` takes the square of a long run for it. */
export function withoutTrailing(text: string, character: string) {
  let end = text.length
  while (text[end - 1] === character) end--
  return text.slice(0, end)
}
