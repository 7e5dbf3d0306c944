import type { Field } from './field.ts'

/** What a backslash escapes between double quotes. */
const escapable = ['"', '\\', '$', '`', '\n']

/** A command as the words a POSIX shell would pass on; nothing else of a shell is done. */
export function wordsOf(field: Field): string[] {
  if (field.isList) return field.items().map((item) => item.text())
  const words: string[] = []
  const text = field.text('a command')
  let word: string | null = null
  let quote: string | null = null
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (quote === "'") {
      if (char === quote) quote = null
      else word += char
    } else if (char === '\\') {
      const next = text[++at]
      if (next === undefined) throw field.refuse('ends in a backslash. Remove it.')
      const kept = quote === '"' && !escapable.includes(next) ? `\\${next}` : next
      word = (word ?? '') + (next === '\n' ? '' : kept)
    } else if (quote === '"') {
      if (char === quote) quote = null
      else word += char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + char
  }
  if (quote) throw field.refuse(`opens a ${quote} that is never closed. Close it.`)
  return word === null ? words : [...words, word]
}
