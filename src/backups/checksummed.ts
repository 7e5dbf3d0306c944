import { Transform } from 'node:stream'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

type Write = (to: Writable, signal: AbortSignal) => Promise<void>

/** Passes on what is written, with its size and SHA-256. An error of either side ends both. */
export function checksummed(write: Write) {
  const hash = new Bun.CryptoHasher('sha256')
  let bytes = 0
  const tap = () =>
    new Transform({
      transform(chunk: Uint8Array, _, done) {
        hash.update(chunk)
        bytes += chunk.length
        done(null, chunk)
      },
    })
  return {
    async write(to: Writable, signal: AbortSignal) {
      const through = tap()
      const passed = pipeline(through, to, { signal })
      passed.catch(() => {}) // whoever writes hears of it first
      try {
        await write(through, signal)
        through.end()
      } catch (error) {
        through.destroy(error as Error)
        throw error
      }
      await passed
    },
    result: () => ({ bytes, checksum: hash.digest('hex') }),
  }
}
