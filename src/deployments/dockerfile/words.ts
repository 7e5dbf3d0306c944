import type { Escape } from './directives.ts'

/** The words of a line with their quotes and escapes still in them; a quoted blank separates nothing. */
export function wordsOf(text: string, escape: Escape): string[] {
  const words: string[] = []
  let word = ''
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (quote === '' && /\s/.test(char)) {
      if (word !== '') words.push(word)
      word = ''
      continue
    }
    word += char
    if (char === escape && quote !== "'") word += text[++at] ?? ''
    else if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '"' || char === "'") quote = char
  }
  if (word !== '') words.push(word)
  return words
}

/** Parts the `--flags` before the arguments from these; quotes and escapes of flags are resolved. */
export function splitFlags(line: string, escape: Escape): { flags: string[]; text: string } {
  const flags: string[] = []
  let rest = line.trim()
  while (rest.startsWith('--')) {
    const { flag, end } = readFlag(rest, escape)
    rest = rest.slice(end).trimStart()
    if (flag === '--') break
    flags.push(flag)
  }
  return { flags, text: rest }
}

function readFlag(text: string, escape: Escape) {
  let flag = ''
  let quote = ''
  let at = 0
  for (; at < text.length; at++) {
    const char = text[at]!
    if (quote === '' && /\s/.test(char)) break
    if (char === escape) flag += text[++at] ?? ''
    else if (char === quote) quote = ''
    else if (quote === '' && (char === '"' || char === "'")) quote = char
    else flag += char
  }
  return { flag, end: at }
}

/** The text without its quotes and escapes, as a shell takes it. */
export const unquote = (text: string, escape: Escape) => {
  let plain = ''
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (char === escape && quote !== "'") plain += text[++at] ?? ''
    else if (char === quote) quote = ''
    else if (quote === '' && (char === '"' || char === "'")) quote = char
    else plain += char
  }
  return plain
}

/** The fields of one CSV record, such as `--mount` takes; null when it is none. */
export function csvFields(text: string): string[] | null {
  const fields: string[] = []
  for (let at = 0; at <= text.length;) {
    if (text[at] !== '"') {
      const end = text.indexOf(',', at)
      const field = text.slice(at, end === -1 ? text.length : end)
      if (field.includes('"')) return null
      fields.push(field)
      at = end === -1 ? text.length + 1 : end + 1
      continue
    }
    quotedField.lastIndex = at
    const [, inside] = quotedField.exec(text) ?? []
    if (inside === undefined) return null
    fields.push(inside.replaceAll('""', '"'))
    at = quotedField.lastIndex + 1
  }
  return fields
}

const quotedField = /"((?:[^"]|"")*)"(?=,|$)/y

/** The options of a `--mount`, by key in small letters. */
export function mountOptions(value: string): Map<string, string> {
  return new Map(
    (csvFields(value) ?? []).map((field) => {
      const at = field.indexOf('=')
      const key = at === -1 ? field : field.slice(0, at)
      return [key.toLowerCase(), at === -1 ? '' : field.slice(at + 1)]
    }),
  )
}
