export type Frame = { stream: 'stdout' | 'stderr'; bytes: Uint8Array }

const headerLength = 8

/** Takes the engine's multiplexed output apart: 8 bytes of stream and length before each piece. */
export async function* readFrames(source: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let pending = Buffer.alloc(0)
  for await (const chunk of source) {
    pending = pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([pending, chunk])
    let from = 0
    while (pending.length - from >= headerLength) {
      const end = from + headerLength + pending.readUInt32BE(from + 4)
      if (end > pending.length) break
      const stream = pending[from] === 2 ? 'stderr' : 'stdout'
      yield { stream, bytes: pending.subarray(from + headerLength, end) }
      from = end
    }
    pending = pending.subarray(from)
  }
}
