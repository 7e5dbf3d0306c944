import { isUtf8 } from 'node:buffer'

/** In bytes, for a member that is kept. Only a list of commits is ever larger. */
const maxMember = 512 * 1024
/** In bytes, for all kept members together. */
const maxKept = 768 * 1024
/** No event has as many. An object with more is refused because each name has a cost. */
const maxMembers = 10_000

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Finds top-level members of a JSON object in its bytes, as they arrive. Other members are skipped without
 * parsing, so the cost is linear in the body's length.
 */
export class MemberReader {
  readonly #names: Set<string>
  readonly #found = new Map<string, Buffer>()
  #kept = 0
  #count = 0
  #state: 'before' | 'inside' | 'after' | 'broken' = 'before'
  #depth = 0
  #inString = false
  #isEscaped = false
  /** Null while the name is read, and within a member that isn't needed. */
  #name: string | null = null
  #inName = true
  #pieces: Uint8Array[] = []
  #size = 0

  constructor(names: Iterable<string>) {
    this.#names = new Set(names)
  }

  /** Bytes are only valid during the call. */
  push(bytes: Uint8Array) {
    let from = 0 // the kept part continues here
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === backslash) this.#isEscaped = true
        else if (byte === quote) this.#inString = false
      } else if (this.#state !== 'inside') {
        if (byte > 0x20) this.#state = this.#begins(byte) ? 'inside' : 'broken'
        if (this.#state === 'broken') return
        from = at + 1
      } else if (byte === quote) this.#inString = true
      else if (byte === openBrace || byte === openBracket) this.#depth++
      else if (byte === closeBrace || byte === closeBracket) {
        if (--this.#depth > 0) continue
        this.#endMember(bytes.subarray(from, at))
        this.#state = 'after'
      } else if (this.#depth === 1 && byte === comma) {
        this.#endMember(bytes.subarray(from, at))
        from = at + 1
      } else if (this.#depth === 1 && byte === colon && this.#inName) {
        this.#keep(bytes.subarray(from, at))
        this.#endName()
        from = at + 1
        if (++this.#count > maxMembers) return void (this.#state = 'broken')
      }
    }
    if (this.#state === 'inside') this.#keep(bytes.subarray(from))
  }

  /** Returns the members' raw JSON; null when the bytes aren't an object. */
  end(): Map<string, string> | null {
    if (this.#state !== 'after' || !this.#found.values().every((value) => isUtf8(value)))
      return null
    return new Map([...this.#found].map(([name, value]) => [name, value.toString()]))
  }

  #begins(byte: number) {
    this.#depth = 1
    return this.#state === 'before' && byte === openBrace
  }

  #endName() {
    const name = Buffer.concat(this.#pieces).toString().trim().slice(1, -1)
    this.#inName = false
    this.#name = this.#names.has(name) ? name : null
    this.#drop()
  }

  #endMember(rest: Uint8Array) {
    this.#keep(rest)
    if (this.#name !== null) {
      this.#kept -= this.#found.get(this.#name)?.length ?? 0 // of duplicates, the last one counts
      this.#found.delete(this.#name)
      if (this.#size <= maxMember && this.#kept + this.#size <= maxKept) {
        this.#found.set(this.#name, Buffer.concat(this.#pieces))
        this.#kept += this.#size
      }
    }
    this.#drop()
    this.#inName = true
    this.#name = null
  }

  #keep(bytes: Uint8Array) {
    if (!this.#inName && this.#name === null) return
    this.#size += bytes.length
    if (this.#size > maxMember) this.#pieces = []
    else if (bytes.length > 0) this.#pieces.push(Buffer.from(bytes))
  }

  #drop() {
    this.#pieces = []
    this.#size = 0
  }
}
