import { Rewriting } from './rewriting.ts'
import type { Rewritten } from './rewriting.ts'

/** A character by its number (`\u{e9}`, `\u00e9`, `%u00e9`, `\U000000e9`, `&#xe9;`, `&#233;`) or name, and a colour. */
const character =
  /\\[ux]\{([\dA-Fa-f]{1,6})\}|[\\%]u([\dA-Fa-f]{4})|\\U([\dA-Fa-f]{8})|&#[xX]([\dA-Fa-f]{1,6});|&#(\d{1,7});|&([A-Za-z]{2,6}\d{0,2});|\u001b\[[\d;]*m/y

/** A byte, as URLs and most languages write it; as C and shells do; as Lua and OCaml do. */
const hex = { unit: /(?:%|\\x)([\dA-Fa-f]{2})/y, base: 16 }
const octal = { unit: /\\([0-3][0-7]{2})/y, base: 8 }
const decimal = { unit: /\\([0-2]\d\d)/y, base: 10 }

/** A character by its number in Haskell. */
const number = /\\([0-3]\d\d|\d{1,7})/y

/** What may begin an escape whose rest was cut off, or a character of several bytes, or a quote (`$'`). */
const unfinished =
  /(?:(?:%|\\x)[89A-Fa-f][\dA-Fa-f]|\\[1-3]\d\d){0,3}(?:\\(?:[ux](?:[\dA-Fa-f]{0,3}|\{[\dA-Fa-f]{0,6})|U[\dA-Fa-f]{0,7}|\d{0,2})|%(?:[\dA-Fa-f]?|u[\dA-Fa-f]{0,3})|&#?[\dA-Za-z]{0,8}|\u001b\[?[\d;]{0,8}|\$)?$/

/** Where the end of a text that was cut there may mean something else with its rest. */
export const unfinishedAt = (text: string) =>
  text.length - unfinished.exec(text.slice(-40))![0].length

const [backslash, percent, ampersand, colours] = [0x5c, 0x25, 0x26, 0x1b]

/** A text in which escapes are the characters that they stand for; null where it has none. */
export function unescaped(text: string): Rewritten | null {
  if (!/[\\%&\u001b]/.test(text)) return null
  const rewriting = new Rewriting(text)
  let hasEscape = false
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at)
    const mayBegin =
      code === backslash || code === percent || code === ampersand || code === colours
    const found = mayBegin ? escapeAt(text, at) : null
    if (found) hasEscape = true
    const end = found?.end ?? at + 1
    rewriting.put(found?.code ?? code, at, end)
    at = end
  }
  return hasEscape ? rewriting.end() : null
}

/** What an escape that begins there stands for. */
type Escape = { code: number; end: number }

/** What a colour stands for: greater than each character, it is left out. */
const nothing = 0x110000

function escapeAt(text: string, at: number): Escape | null {
  const sign = text.charCodeAt(at)
  const next = text.charCodeAt(at + 1)
  if (sign === backslash) {
    const code = next < 0x80 ? simple[next]! : next
    if (code > 0) return { code, end: at + 2 }
    if (next < 0x3a) return numberAt(text, at)
  }
  if (sign === backslash || sign === percent) {
    const byte = byteAt(text, at, hex)
    const end = hex.unit.lastIndex
    if (byte >= 0)
      return byte < 0x80 ? { code: byte, end } : (utf8At(text, at, hex) ?? { code: byte, end })
  }
  character.lastIndex = at
  const found = character.exec(text)
  if (!found) return null
  const end = character.lastIndex
  const digits = found[1] ?? found[2] ?? found[3] ?? found[4]
  if (digits) return { code: parseInt(digits, 16), end }
  if (found[5]) return { code: Number(found[5]), end }
  if (!found[6]) return { code: nothing, end }
  const code = names.get(found[6])
  return code ? { code, end } : null
}

function numberAt(text: string, at: number): Escape | null {
  const bytes = utf8At(text, at, octal) ?? utf8At(text, at, decimal)
  if (bytes) return bytes
  number.lastIndex = at
  const [, digits] = number.exec(text)!
  const isOctal = Number(digits) > 255 && /^[0-3][0-7]{2}$/.test(digits!)
  return { code: parseInt(digits!, isOctal ? 8 : 10), end: number.lastIndex }
}

/** The character whose bytes in UTF-8 are written there. */
function utf8At(text: string, at: number, { unit, base }: typeof hex): Escape | null {
  const first = byteAt(text, at, { unit, base })
  const rest = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3
  if (first < 0 || (first >= 0x80 && first < 0xc2)) return null
  let code = first & [0x7f, 0x1f, 0x0f, 0x07][rest]!
  let end = unit.lastIndex
  for (let n = 0; n < rest; n++) {
    const byte = byteAt(text, end, { unit, base })
    if (byte < 0 || (byte & 0xc0) !== 0x80) return null
    code = (code << 6) | (byte & 0x3f)
    end = unit.lastIndex
  }
  return { code, end }
}

function byteAt(text: string, at: number, { unit, base }: typeof hex) {
  unit.lastIndex = at
  const found = unit.exec(text)
  return found ? parseInt(found[1]!, base) : -1
}

/** What a backslash and a character stand for; 0 for letters and digits that mean nothing alone. */
const simple = Uint16Array.from({ length: 0x80 }, (_, code) => {
  const sign = String.fromCharCode(code)
  const letter = 'abefnrtv'.indexOf(sign)
  return letter >= 0
    ? '\x07\b\x1b\f\n\r\t\v'.charCodeAt(letter)
    : /[\dA-Za-z]/.test(sign)
      ? 0
      : code
})

/** The names that HTML 4 has for the characters of Latin-1, from 160 on, and those of its own signs. */
const latin1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
const names = new Map([
  ...latin1.split(' ').map((name, at) => [name, 160 + at] as const),
  ...Object.entries({ amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, apos: 0x27, euro: 0x20ac }),
])
