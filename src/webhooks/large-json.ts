/** Bytes of a member of a large object that is read; only a list of commits is ever larger. */
const maxMember = 256 * 1024
/** Bytes of all that are. */
const maxKept = 4 * 1024 * 1024

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const opens = [0x7b, 0x5b]
const closes = [0x7d, 0x5d]

/**
 * The text of a JSON object without its large members, made from its bytes without a copy of all of
 * them; null when it is no object. What is left out is not looked at, but for where it ends.
 */
export function withoutLargeMembers(json: Buffer): string | null {
  const members: string[] = []
  let kept = 0
  for (const [from, to] of membersOf(json) ?? []) {
    if (to - from > maxMember || kept + to - from > maxKept) continue
    kept += to - from
    members.push(json.toString('utf8', from, to))
  }
  return members.length > 0 ? `{${members.join(',')}}` : null
}

/** From where to where each member of the outermost object reaches; null when it is none. */
function membersOf(json: Buffer): [from: number, to: number][] | null {
  const members: [number, number][] = []
  const start = json.findIndex((byte) => !isBlank(byte))
  if (json[start] !== opens[0]) return null
  let depth = 1
  let from = start + 1
  for (let at = from; at < json.length; at++) {
    const byte = json[at]!
    if (byte === quote) {
      at = endOfString(json, at)
    } else if (opens.includes(byte)) {
      depth++
    } else if (closes.includes(byte)) {
      if (--depth > 0) continue
      members.push([from, at])
      return json.subarray(at + 1).every(isBlank) ? members : null
    } else if (byte === comma && depth === 1) {
      members.push([from, at])
      from = at + 1
    }
  }
  return null
}

/** Where the string that begins here has its last quote, or the end of all. */
function endOfString(json: Buffer, start: number) {
  for (let at = json.indexOf(quote, start + 1); at >= 0; at = json.indexOf(quote, at + 1)) {
    let escapes = 0
    while (json[at - 1 - escapes] === backslash) escapes++
    if (escapes % 2 === 0) return at
  }
  return json.length
}

const isBlank = (byte: number) => byte <= 0x20
