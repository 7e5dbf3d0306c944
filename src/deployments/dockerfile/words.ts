import type { Escape } from './directives.ts'

type Kind = 'word' | 'flag' | 'text'

/**
 * Reads a word or a flag up to an unquoted blank, and a text to its end. Returns the end, and the value
 * without quotes and escapes. Only in flags do escapes also apply within single quotes.
 */
function read(kind: Kind, text: string, { from = 0, escape }: { from?: number; escape: Escape }) {
  let plain = ''
  let quote = ''
  let at = from
  for (; at < text.length; at++) {
    const char = text[at]!
    if (kind !== 'text' && quote === '' && /\s/.test(char)) break
    if (char === escape && (kind === 'flag' || quote !== "'")) plain += text[++at] ?? ''
    else if (char === quote) quote = ''
    else if (quote === '' && (char === '"' || char === "'")) quote = char
    else plain += char
  }
  return { plain, end: at }
}

/** Splits a line into words that still have quotes and escapes. A quoted blank doesn't separate. */
export function wordsOf(text: string, escape: Escape): string[] {
  const words: string[] = []
  for (let from = 0, end; from < text.length; from = end + 1) {
    end = read('word', text, { from, escape }).end
    if (end > from) words.push(text.slice(from, end))
  }
  return words
}

/** Separates `--flags`, whose quotes and escapes are resolved, from the arguments. */
export function splitFlags(line: string, escape: Escape): { flags: string[]; text: string } {
  const flags: string[] = []
  let rest = line.trim()
  while (rest.startsWith('--')) {
    const { plain, end } = read('flag', rest, { escape })
    rest = rest.slice(end).trimStart()
    if (plain === '--') break
    flags.push(plain)
  }
  return { flags, text: rest }
}

/** Removes quotes and escapes as a shell does. */
export const unquote = (text: string, escape: Escape) => read('text', text, { escape }).plain

/** Reads one CSV record, as in `--mount`; null when it is invalid. */
export function csvFields(text: string): string[] | null {
  const fields: string[] = []
  for (let at = 0; at <= text.length; at = csvField.lastIndex + 1) {
    csvField.lastIndex = at
    const [, quoted, plain] = csvField.exec(text) ?? []
    if (quoted === undefined && plain === undefined) return null
    fields.push(quoted?.replaceAll('""', '"') ?? plain!)
  }
  return fields
}

const csvField = /(?:"((?:[^"]|"")*)"|([^",]*))(?=,|$)/y

/** Reads the options of a `--mount`, by lower-case key. */
export function mountOptions(value: string): Map<string, string> {
  return new Map(
    (csvFields(value) ?? []).map((field) => {
      const at = field.indexOf('=')
      const key = at === -1 ? field : field.slice(0, at)
      return [key.toLowerCase(), at === -1 ? '' : field.slice(at + 1)]
    }),
  )
}
