import { isUtf8 } from 'node:buffer'
import { pause } from '../platform/pause.ts'

/** In bytes, for a member that is kept. Only a list of commits is ever larger. */
const maxMember = 512 * 1024
/** In bytes, for all kept members together. */
const maxKept = 768 * 1024
/** No event has as many. An object with more is refused because each name has a cost. */
const maxMembers = 10_000
/** In bytes, for a name with its quotes. */
const maxName = 1000

/** Steps between which other work may run. */
const slice = 32 * 1024

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Finds top-level members of a JSON object, as raw JSON; null when the bytes aren't an object. Other members
 * are skipped without parsing: `JSON.parse` needs up to a gigabyte for a body that no one has signed.
 */
export async function membersIn(
  json: Buffer,
  names: string[],
): Promise<Map<string, string> | null> {
  const found = new Map<string, Buffer>()
  let kept = 0
  let count = 0
  let depth = 0
  let isBegun = false
  let inString = false
  let from = 0
  /** Null while the name is read. */
  let name: string | null = null
  for (let at = 0, steps = 1; at < json.length; at++, steps++) {
    if (steps % slice === 0) await pause()
    const byte = json[at]!
    if (inString) {
      if (byte === backslash) at++
      else if (byte === quote) inString = false
    } else if (depth === 0) {
      if (byte <= 0x20) continue
      if (isBegun || byte !== openBrace) return null
      isBegun = true
      depth = 1
      from = at + 1
    } else if (byte === quote) inString = true
    else if (byte === openBrace || byte === openBracket) depth++
    else if (byte === closeBrace || byte === closeBracket) {
      if (--depth === 0) keep(at)
    } else if (depth === 1 && byte === comma) keep(at)
    else if (depth === 1 && byte === colon && name === null) {
      if (++count > maxMembers) return null
      name = at - from > maxName ? '' : json.toString('utf8', from, at).trim().slice(1, -1)
      from = at + 1
    }
  }
  if (!isBegun || depth > 0 || !found.values().every((value) => isUtf8(value))) return null
  return new Map([...found].map(([name, value]) => [name, value.toString()]))

  function keep(end: number) {
    if (name !== null && names.includes(name)) {
      kept -= found.get(name)?.length ?? 0 // of duplicates, the last one counts
      found.delete(name)
      const size = end - from
      if (size <= maxMember && kept + size <= maxKept) {
        found.set(name, json.subarray(from, end))
        kept += size
      }
    }
    name = null
    from = end + 1
  }
}
