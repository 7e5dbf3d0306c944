import { invalidField } from '../errors.ts'

const quotedLine = /^(["'`])([\s\S]*)$/

/**
 * Parses a .env file: `KEY=value` with an optional `export`, comments, single quotes (taken as they
 * are) and double quotes (`\n`, `\t`, `\"`, `\\` are read), both of which may span lines. Throws
 * `invalid` naming the first line that is none of these, so that all lines count or none does.
 */
export function parseDotenv(text: string): Map<string, string> {
  const rows = text
    .replaceAll('\r\n', '\n')
    .replace(/^\uFEFF/, '')
    .split('\n')
  const found = new Map<string, string>()
  for (let row = 0; row < rows.length; row++) {
    const content = rows[row]!.trim()
    if (content === '' || content.startsWith('#')) continue
    const assignment = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(content)
    if (!assignment) throw refused(row, 'is not KEY=value')
    const [, key, rest] = assignment as unknown as [string, string, string]
    const quoted = quotedLine.exec(rest)
    if (!quoted) {
      found.set(key, rest.replace(/\s+#.*$/, ''))
      continue
    }
    const begun = row
    const [, quote, opened] = quoted as unknown as [string, string, string]
    let body = opened
    let end = closing(body, quote)
    while (end < 0) {
      if (++row >= rows.length) throw refused(begun, `opens a ${quote} that is never closed`)
      body += `\n${rows[row]}`
      end = closing(body, quote)
    }
    if (!/^\s*(#.*)?$/.test(body.slice(end + 1)))
      throw refused(row, 'goes on after its closing quote')
    found.set(key, quote === '"' ? unescape(body.slice(0, end)) : body.slice(0, end))
  }
  if (found.size === 0) throw invalidField('dotenv', 'has no line of the form KEY=value.')
  return found
}

const refused = (row: number, what: string) =>
  invalidField('dotenv', `line ${row + 1} ${what}. Nothing was stored.`)

/** Where the quote closes, or -1; in double quotes a backslash hides the next character. */
function closing(body: string, quote: string) {
  for (let at = 0; at < body.length; at++) {
    if (quote === '"' && body[at] === '\\') at++
    else if (body[at] === quote) return at
  }
  return -1
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r' }
const unescape = (body: string) =>
  body.replace(/\\([\s\S])/g, (whole, letter: string) =>
    letter in escapes ? escapes[letter]! : /["\\$]/.test(letter) ? letter : whole,
  )
