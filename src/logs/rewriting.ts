/** From an index up to, and excluding, another. */
export type Range = [from: number, to: number]

/** A text made from another one, with the positions of its characters in the source. */
export type Rewritten = { text: string; sourceOf: (range: Range) => Range }

/** Reused for each text while it is large enough. */
let room = new Uint16Array(0x4000)

/** Writes a text that is no longer than its source, and records the source position of each character. */
export class Rewriting {
  readonly #codes: Uint16Array<ArrayBuffer>
  /** The start and end of each character in the source. */
  readonly #places: Uint32Array
  #length = 0

  constructor({ length }: string) {
    if (room.length < length) room = new Uint16Array(length)
    this.#codes = room
    this.#places = new Uint32Array(2 * length)
  }

  /** Appends a character that stands for a range of the source. */
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
