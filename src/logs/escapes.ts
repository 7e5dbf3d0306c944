import { Rewriting } from './rewriting.ts'
import type { Rewritten } from './rewriting.ts'

/** A character as `\u{e9}`, `\u00e9`, `%u00e9`, `\U000000e9`, `&#xe9;`, `&#233;` or by name, or a colour. */
const character =
  /\\[ux]\{([\dA-Fa-f]{1,6})\}|[\\%]u([\dA-Fa-f]{4})|\\U([\dA-Fa-f]{8})|&#[xX]([\dA-Fa-f]{1,6});|&#(\d{1,7});|&([A-Za-z]{2,6}\d{0,2});|\u001b\[[\d;]*m/y

/** Bytes, as in URLs and most languages; as in C and shells; as in Lua and OCaml. */
const hex = { unit: /(?:%|\\x)([\dA-Fa-f]{2})/y, base: 16 }
const octal = { unit: /\\([0-3][0-7]{2})/y, base: 8 }
const decimal = { unit: /\\([0-2]\d\d)/y, base: 10 }

/** A character by its number in Haskell. */
const number = /\\([0-3]\d\d|\d{1,7})/y

/** The start of an escape, a character with several bytes, or a quote (`$'`), whose rest was cut off. */
const unfinished =
  /(?:(?:%|\\x)[89A-Fa-f][\dA-Fa-f]|\\[1-3]\d\d){0,3}(?:\\(?:[ux](?:[\dA-Fa-f]{0,3}|\{[\dA-Fa-f]{0,6})|U[\dA-Fa-f]{0,7}|\d{0,2})|%(?:[\dA-Fa-f]?|u[\dA-Fa-f]{0,3})|&#?[\dA-Za-z]{0,8}|\u001b\[?[\d;]{0,8}|\$)?$/

/** Returns the position from which the end of a cut text may have another meaning with its rest. */
export const unfinishedAt = (text: string) =>
  text.length - unfinished.exec(text.slice(-40))![0].length

const [backslash, percent, ampersand, colours] = [0x5c, 0x25, 0x26, 0x1b]

/** Replaces escapes by their characters; null when there are none. */
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

/** The character of an escape, and the position after it. */
type Escape = { code: number; end: number }

/** The code for a colour: above every character, so that it is omitted. */
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

/** Reads a character that is written as the bytes of its UTF-8. */
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

/** The character for a backslash and another one; 0 for letters and digits without a meaning of their own. */
const simple = Uint16Array.from({ length: 0x80 }, (_, code) => {
  const sign = String.fromCharCode(code)
  const letter = 'abefnrtv'.indexOf(sign)
  return letter >= 0
    ? '\x07\b\x1b\f\n\r\t\v'.charCodeAt(letter)
    : /[\dA-Za-z]/.test(sign)
      ? 0
      : code
})

/** HTML 4's names of Latin-1 characters, from 160 on, and of its own special characters. */
const latin1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
const names = new Map([
  ...latin1.split(' ').map((name, at) => [name, 160 + at] as const),
  ...Object.entries({ amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, apos: 0x27, euro: 0x20ac }),
])
