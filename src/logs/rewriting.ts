/** From an index to the one behind it. */
export type Range = [from: number, to: number]

/** A text that was made from another one, and where its characters come from. */
export type Rewritten = { text: string; sourceOf: (range: Range) => Range }

/** Characters of a text that is being written: for the next one, as long as there is room. */
let room = new Uint16Array(0x4000)

/** Writes a text that is no longer than its source, and keeps where each character of it stood there. */
export class Rewriting {
  readonly #codes: Uint16Array<ArrayBuffer>
  /** From where to where, of each character. */
  readonly #places: Uint32Array
  #length = 0

  constructor({ length }: string) {
    if (room.length < length) room = new Uint16Array(length)
    this.#codes = room
    this.#places = new Uint32Array(2 * length)
  }

  /** A character, which stands there in the source. */
  put(code: number, from: number, to: number) {
    if (code <= 0xffff) return this.#put(code, from, to)
    if (code > 0x10ffff) return
    this.#put(0xd800 + ((code - 0x10000) >> 10), from, to)
    this.#put(0xdc00 + ((code - 0x10000) & 0x3ff), from, to)
  }

  #put(code: number, from: number, to: number) {
    const at = this.#length++
    this.#codes[at] = code
    this.#places[2 * at] = from
    this.#places[2 * at + 1] = to
  }

  end(): Rewritten {
    const text = Buffer.from(this.#codes.buffer, 0, 2 * this.#length).toString('utf16le')
    const places = this.#places
    return { text, sourceOf: ([from, to]) => [places[2 * from] ?? from, places[2 * to - 1] ?? to] }
  }
}
