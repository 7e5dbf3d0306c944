import { pause } from '../platform/pause.ts'

const [ampersand, plus, space, percent] = [0x26, 0x2b, 0x20, 0x25]

/** Bytes that are decoded before other work may run. */
const slice = 32 * 1024

/** An event's form has one field. Reading stops after this many. */
const maxParts = 1000

/** The decoded value of the only field with that name; null when there are none or several. */
export async function formField(form: Buffer, name: string): Promise<Buffer | null> {
  const start = Buffer.from(`${name}=`)
  let value: Buffer | null = null
  for (let from = 0, part = 0; from < form.length && part < maxParts; part++) {
    const next = form.indexOf(ampersand, from)
    const end = next < 0 ? form.length : next
    if (form.subarray(from, Math.min(from + start.length, end)).equals(start)) {
      if (value) return null
      value = form.subarray(from + start.length, end)
    }
    from = end + 1
  }
  return value && decode(value)
}

/** Invalid escapes are literal, as in the URL standard. */
async function decode(text: Buffer): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(text.length)
  let size = 0
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!
    const escaped = byte === percent ? hexByte(text, at + 1) : -1
    if (escaped >= 0) at += 2
    bytes[size++] = escaped >= 0 ? escaped : byte === plus ? space : byte
    if (size % slice === 0) await pause()
  }
  return bytes.subarray(0, size)
}

/** Reads two hex digits; -1 when they are invalid. */
function hexByte(text: Buffer, at: number) {
  const high = digits[text[at] ?? 0]!
  const low = digits[text[at + 1] ?? 0]!
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

/** A lookup table by character code, since a body may have millions of escapes. */
const digits = new Int8Array(256).fill(-1)
for (const [value, digit] of [...'0123456789abcdef'].entries())
  for (const letter of [digit, digit.toUpperCase()]) digits[letter.charCodeAt(0)] = value
