/** Bytes that both sides know: the same for the same seed, and different everywhere. */
export function knownBytes(seed: number, length: number) {
  const bytes = new Uint8Array(length)
  let state = seed >>> 0
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes[at] = state >>> 24
  }
  return bytes
}

export const digestOf = (bytes: Uint8Array) =>
  new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
