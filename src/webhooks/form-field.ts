const [ampersand, plus, space, percent] = [0x26, 0x2b, 0x20, 0x25]

/** The values of a field of a form, decoded from the bytes as they came, without a text of all of it. */
export function fieldValues(form: Buffer, name: string): Buffer[] {
  const start = Buffer.from(`${name}=`)
  const values: Buffer[] = []
  for (let from = 0; from <= form.length;) {
    const end = form.indexOf(ampersand, from)
    const part = form.subarray(from, end < 0 ? form.length : end)
    if (part.subarray(0, start.length).equals(start))
      values.push(decoded(part.subarray(start.length)))
    from += part.length + 1
  }
  return values
}

/** What is no escape is taken as it stands, as in the URL standard. */
function decoded(part: Buffer) {
  const bytes = Buffer.allocUnsafe(part.length)
  let size = 0
  for (let at = 0; at < part.length; at++) {
    const byte = part[at]!
    const escaped = byte === percent ? hexByte(part, at + 1) : -1
    if (escaped >= 0) at += 2
    bytes[size++] = escaped >= 0 ? escaped : byte === plus ? space : byte
  }
  return bytes.subarray(0, size)
}

/** The byte that two hex digits stand for; -1 when they are none. */
function hexByte(part: Buffer, at: number) {
  if (at + 1 >= part.length) return -1
  const high = digits[part[at]!]!
  const low = digits[part[at + 1]!]!
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

/** By their codes; a lookup, for a body may be millions of them. */
const digits = new Int8Array(256).fill(-1)
for (const [value, digit] of [...'0123456789abcdef'].entries())
  for (const letter of [digit, digit.toUpperCase()]) digits[letter.charCodeAt(0)] = value
