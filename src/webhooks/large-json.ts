/** Bytes of a member of a large object that is read; only a list of commits is ever larger. */
const maxMember = 256 * 1024
/** Bytes of all that are. */
const maxKept = 1024 * 1024

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * The text of a JSON object without its large members, made from its bytes without a copy of all of
 * them; null when it is no object. What is left out is not looked at, but for where it ends.
 */
export function withoutLargeMembers(json: Buffer): string | null {
  const kept = new Stretches()
  if (!eachMember(json, (from, to) => kept.add(from, to))) return null
  return `{${kept.all.map(([from, to]) => json.toString('utf8', from, to)).join(',')}}`
}

/** Members that follow one another are one stretch: a body may have millions of them. */
class Stretches {
  readonly all: [from: number, to: number][] = []
  #size = 0

  add(from: number, to: number) {
    if (to - from > maxMember || this.#size + to - from > maxKept) return
    this.#size += to - from
    const last = this.all.at(-1)
    if (last && last[1] + 1 === from) last[1] = to
    else this.all.push([from, to])
  }
}

/** Tells from where to where each member of the outermost object reaches; false when it is none. */
function eachMember(json: Buffer, tell: (from: number, to: number) => void) {
  const start = json.findIndex((byte) => !isBlank(byte))
  if (json[start] !== openBrace) return false
  let depth = 1
  let from = start + 1
  for (let at = from; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) at = endOfString(json, at)
    else if (byte === openBrace || byte === openBracket) depth++
    else if (byte === closeBrace || byte === closeBracket) depth--
    if (depth > 1 || (depth === 1 && byte !== comma)) continue
    tell(from, at)
    if (depth === 0) return json.subarray(at + 1).every(isBlank)
    from = at + 1
  }
  return false
}

/** Where the string that begins here has its last quote, or the end of all. */
function endOfString(json: Buffer, start: number) {
  for (let at = start + 1; at < json.length; at++)
    if (json[at] === backslash) at++
    else if (json[at] === quote) return at
  return json.length
}

const isBlank = (byte: number) => byte <= 0x20
