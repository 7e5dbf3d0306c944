import { unescaped, unfinishedAt } from './escapes.ts'
import { Rewriting } from './rewriting.ts'
import type { Rewritten } from './rewriting.ts'

/** Escapes within escapes, such as JSON within JSON, that are undone. */
const mostNested = 4

export type Reading = Rewritten & {
  /** Where the end of a text that was cut may mean something else with its rest. */
  whole: number
}

/**
 * A text as it is, then without escapes, again and again, and without quotes, where programs write them
 * into a value: `it'\''s`, `it''s`. There a plus counts as the blank of a form. At last as mails write it.
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

/** How a secret is looked for in the readings of a text. */
export type Spelling = { text: string; isBase64: boolean }

/** A secret in each of its readings, whole and line by line, and what its bytes are written as. */
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

/** Bytes from which on no language prints them one by one. */
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

/** Wherever the bytes begin in what is encoded, and in lines as tools break it. */
function* base64Of(bytes: Buffer) {
  for (const alphabet of ['base64', 'base64url'] as const)
    for (let before = 0; before < 3; before++) {
      const text = Buffer.concat([Buffer.alloc(before), bytes]).toString(alphabet)
      // the characters at its ends have bits of what stands around it
      const [from, to] = [before * 8, (before + bytes.length) * 8]
      const own = text.slice(Math.ceil(from / 6), Math.floor(to / 6))
      yield own
      if (before === 0 && alphabet === 'base64') {
        yield* own.match(/.{1,64}/g) ?? []
        yield* own.match(/.{1,76}/g) ?? []
      }
    }
}
