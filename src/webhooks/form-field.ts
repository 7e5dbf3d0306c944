import { pause } from '../platform/pause.ts'

const [ampersand, plus, space, percent] = [0x26, 0x2b, 0x20, 0x25]

/** Bytes that are decoded before other work may run. */
const slice = 32 * 1024

/** An event's form has one field. Reading stops after this many. */
const maxParts = 1000

type Take = (bytes: Uint8Array) => void

/**
 * Decodes a form field's value and passes it on in chunks, which are only valid during the call. Returns the
 * number of fields with that name; only the first is passed on.
 */
export async function readField(
  form: Buffer,
  { name, take }: { name: string; take: Take },
): Promise<number> {
  const start = Buffer.from(`${name}=`)
  let count = 0
  for (let from = 0, part = 0; from < form.length && part < maxParts; part++) {
    const next = form.indexOf(ampersand, from)
    const end = next < 0 ? form.length : next
    const value = from + start.length
    if (value <= end && form.compare(start, 0, start.length, from, value) === 0) {
      if (++count === 1) await decode(form.subarray(value, end), take)
    }
    from = end + 1
  }
  return count
}

/**
 * Returns the value of the only field with that name, or null when there are none or several. It is decoded
 * into the form's own memory, which saves a second copy: the form can't be read afterwards.
 */
export async function unwrapField(form: Buffer, name: string): Promise<Buffer | null> {
  let size = 0
  const take = (bytes: Uint8Array) => {
    form.set(bytes, size) // never overtakes the decoder: a value is no longer than its escapes
    size += bytes.length
  }
  return (await readField(form, { name, take })) === 1 ? form.subarray(0, size) : null
}

/** Invalid escapes are literal, as in the URL standard. */
async function decode(value: Buffer, take: Take) {
  const bytes = Buffer.allocUnsafe(slice)
  let size = 0
  for (let at = 0; at < value.length; at++) {
    const byte = value[at]!
    const escaped = byte === percent ? hexByte(value, at + 1) : -1
    if (escaped >= 0) at += 2
    bytes[size++] = escaped >= 0 ? escaped : byte === plus ? space : byte
    if (size < slice) continue
    take(bytes)
    size = 0
    await pause()
  }
  take(bytes.subarray(0, size))
}

/** Reads two hex digits; -1 when they are invalid. */
function hexByte(part: Buffer, at: number) {
  if (at + 1 >= part.length) return -1
  const high = digits[part[at]!]!
  const low = digits[part[at + 1]!]!
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

/** A lookup table by character code, since a body may have millions of escapes. */
const digits = new Int8Array(256).fill(-1)
for (const [value, digit] of [...'0123456789abcdef'].entries())
  for (const letter of [digit, digit.toUpperCase()]) digits[letter.charCodeAt(0)] = value
