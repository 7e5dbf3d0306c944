import { unescaped, unfinishedAt } from './escapes.ts'
import { Rewriting } from './rewriting.ts'
import type { Rewritten } from './rewriting.ts'

/** Maximum depth of nested escapes that are decoded, such as JSON within JSON. */
const mostNested = 4

export type Reading = Rewritten & {
  /** The end of a cut text may have another meaning from this position on. */
  whole: number
}

/**
 * Yields a text as it is, then with escapes decoded again and again, and without the quotes that programs
 * write into a value: `it'\''s`, `it''s`. There, a plus is read as a form's blank. Finally with the escapes
 * of mails decoded.
 */
export function* readingsOf(
  text: string,
  { isCut, hasQuotes }: { isCut: boolean; hasQuotes: boolean },
): Generator<Reading> {
  let reading = asItIs(text, isCut)
  yield reading
  for (let depth = 0; depth < mostNested; depth++) {
    const next = unescaped(reading.text)
    if (!next) break
    yield (reading = within(reading, next, isCut))
  }
  const bare = hasQuotes && unquoted(reading.text)
  if (bare) yield within(reading, bare, isCut)
  const asUrl = text.replace(/=(?=[\dA-F]{2}|[\dA-F]?$)/g, '%')
  const mail = asUrl !== text && unescaped(asUrl)
  if (mail) yield within(asItIs(asUrl, isCut), mail, isCut)
}

const asItIs = (text: string, isCut: boolean): Reading => ({
  text,
  whole: isCut ? unfinishedAt(text) : text.length,
  sourceOf: (range) => range,
})

function within(outer: Reading, { text, sourceOf }: Rewritten, isCut: boolean): Reading {
  let whole = isCut ? unfinishedAt(text) : text.length
  while (isCut && whole > 0 && sourceOf([whole - 1, whole])[1] > outer.whole) whole--
  return { text, whole, sourceOf: (range) => outer.sourceOf(sourceOf(range)) }
}

function unquoted(text: string) {
  if (!/['"`\\+]/.test(text)) return null
  const rewriting = new Rewriting(text)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isQuote = code === dollar ? text.charCodeAt(at + 1) === quote : isQuoteMark[code] === 1
    if (!isQuote) rewriting.put(code === plus ? blank : code, at, at + 1)
  }
  return rewriting.end()
}

const [blank, dollar, quote, plus] = [0x20, 0x24, 0x27, 0x2b]
const isQuoteMark = Uint8Array.from({ length: 0x80 }, (_, code) =>
  '\'"`\\'.includes(String.fromCharCode(code)) ? 1 : 0,
)

/** A text that is searched for in the readings of a log line. */
export type Spelling = { text: string; isBase64: boolean }

/** Yields each reading of a secret, whole and line by line, and the usual encodings of its bytes. */
export function* spellingsOf(secret: string): Generator<Spelling> {
  for (const { text } of readingsOf(secret, { isCut: false, hasQuotes: true })) {
    yield { text, isBase64: false }
    for (const line of text.split('\n')) yield { text: line.trim(), isBase64: false }
  }
  const lines = secret.replaceAll('\r\n', '\n').trimEnd()
  for (const text of new Set([secret, lines, lines.replaceAll('\n', '\r\n')])) {
    const bytes = Buffer.from(text)
    for (const encoded of base64Of(bytes)) yield { text: encoded, isBase64: true }
    for (const encoded of numbersOf(bytes)) yield { text: encoded, isBase64: false }
  }
}

/** In bytes: no language prints longer values byte by byte. */
const mostListed = 1000

function* numbersOf(bytes: Buffer) {
  const hex = bytes.toString('hex')
  yield hex
  yield hex.toUpperCase()
  if (bytes.length > mostListed) return
  yield bytes.join(' ')
  yield bytes.join(', ')
  yield bytes.join(',')
  yield hex.replace(/..(?!$)/g, '$& ')
}

/** Yields base64 for each offset of the bytes within the encoded data, and with the usual line breaks. */
function* base64Of(bytes: Buffer) {
  for (const alphabet of ['base64', 'base64url'] as const)
    for (let before = 0; before < 3; before++) {
      const text = Buffer.concat([Buffer.alloc(before), bytes]).toString(alphabet)
      // The first and last characters also encode bits of the surrounding data.
      const [from, to] = [before * 8, (before + bytes.length) * 8]
      const own = text.slice(Math.ceil(from / 6), Math.floor(to / 6))
      yield own
      if (before === 0 && alphabet === 'base64') {
        yield* own.match(/.{1,64}/g) ?? []
        yield* own.match(/.{1,76}/g) ?? []
      }
    }
}
