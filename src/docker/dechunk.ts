const carriageReturn = 0x0d

/** Takes the chunks of an HTTP body apart; many of a few bytes cost little. */
export class Dechunker {
  /** True after the last chunk. */
  done = false
  /** Bytes of the current chunk still to come. */
  #left = 0
  /** Where in the frame of the chunks it is. */
  #state: 'size' | 'extension' | 'data' | 'end' = 'size'
  #size = 0

  /** The payload in these bytes. */
  push(bytes: Uint8Array): Uint8Array {
    const payload = Buffer.allocUnsafe(bytes.length)
    let length = 0
    let at = 0
    while (at < bytes.length && !this.done)
      if (this.#state === 'data') {
        const end = Math.min(at + this.#left, bytes.length)
        payload.set(bytes.subarray(at, end), length)
        length += end - at
        this.#left -= end - at
        at = end
        if (this.#left === 0) this.#state = 'end'
      } else this.#frame(bytes[at++]!)
    return payload.subarray(0, length)
  }

  #frame(byte: number) {
    if (byte === lineFeed) this.#endLine()
    else if (this.#state === 'size') {
      const digit = digits.indexOf(String.fromCharCode(byte).toLowerCase())
      if (digit >= 0) this.#size = this.#size * 16 + digit
      else if (byte !== carriageReturn) this.#state = 'extension'
    }
  }

  /** After a size comes data, after data an empty line. */
  #endLine() {
    if (this.#state === 'end') this.#state = 'size'
    else if (this.#size === 0) this.done = true
    else {
      this.#left = this.#size
      this.#size = 0
      this.#state = 'data'
    }
  }
}

const lineFeed = 0x0a
const digits = '0123456789abcdef'
