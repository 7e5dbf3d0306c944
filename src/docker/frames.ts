export type Stream = 'stdout' | 'stderr'

/** The bytes of a frame are those from `from` up to `end`; they are only lent. */
type TakeFrame = (stream: Stream, bytes: Buffer, from: number, end: number) => void

const headerLength = 8

/** Takes the engine's multiplexed output apart: 8 bytes of stream and length before each piece. */
export class FrameSplitter {
  #pending: Uint8Array = Buffer.alloc(0)

  push(chunk: Uint8Array, take: TakeFrame) {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let from = 0
    while (view.length - from >= headerLength) {
      const end = from + headerLength + view.readUInt32BE(from + 4)
      if (end > view.length) break
      take(view[from] === 2 ? 'stderr' : 'stdout', view, from + headerLength, end)
      from = end
    }
    this.#pending = view.subarray(from)
  }
}
