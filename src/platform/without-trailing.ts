/** A text without those of the characters that end it: `/x+$/` takes the square of a long run for it. */
export function withoutTrailing(text: string, characters: string) {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}
