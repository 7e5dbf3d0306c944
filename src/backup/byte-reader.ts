import { DamagedStream } from '../platform/sealed-stream.ts'

/** Reads a stream in the pieces that its format asks for. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  #rest = Buffer.alloc(0)

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async take(count: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for await (const part of this.parts(count)) parts.push(part)
    return Buffer.concat(parts)
  }

  /** So many bytes as they come, none of them twice. */
  async *parts(count: number) {
    for (let left = count; left > 0;) {
      if (this.#rest.length === 0 && !(await this.#more())) throw new DamagedStream()
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      yield part
    }
  }

  /** Throws when something follows. Reading to the end is what proves that nothing was cut off. */
  async end() {
    if (this.#rest.length > 0 || (await this.#more())) throw new DamagedStream()
  }

  async #more() {
    for (;;) {
      const { done, value } = await this.#source.next()
      if (done) return false
      if (value.length === 0) continue
      this.#rest = Buffer.from(value)
      return true
    }
  }
}
