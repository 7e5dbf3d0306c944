/** Removes these characters from the end in linear time: `/x+$/` is quadratic for a long run. */
export function withoutTrailing(text: string, characters: string) {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}
