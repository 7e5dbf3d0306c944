/** By the memory of a chunk: bytes of it that weren’t given back yet. */
const lent = new WeakMap<ArrayBufferLike, number>()

/**
 * Lends pieces of a chunk, whose memory is freed once all of them were given back. Left to the garbage collector,
 * tens of MiB of a stream gather until it comes. Memory that has more than the chunk, such as that of a packet of ssh,
 * is left to it.
 */
export function lend(chunk: Uint8Array, pieces: Uint8Array[]) {
  if (chunk.length < chunk.buffer.byteLength) return
  const own = pieces.filter(({ buffer }) => buffer === chunk.buffer)
  lent.set(
    chunk.buffer,
    own.reduce((sum, { length }) => sum + length, 0),
  )
}

/** Call it at most once for each byte, when no one reads it any more. What wasn’t lent stays as it is. */
export function giveBack({ buffer, length }: Uint8Array) {
  const bytes = lent.get(buffer)
  if (bytes === undefined) return
  if (length < bytes) return void lent.set(buffer, bytes - length)
  lent.delete(buffer)
  ;(buffer as ArrayBuffer).transfer(0)
}
