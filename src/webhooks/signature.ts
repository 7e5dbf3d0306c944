import { createHmac, timingSafeEqual } from 'node:crypto'
import { pause } from '../platform/pause.ts'

/** Shorter secrets (in bytes) are never valid: an empty key would sign, too. */
const minLength = 16

/** Bytes that are hashed at a time: less than a millisecond's work. */
const slice = 512 * 1024

/** HMAC-SHA-256 of the concatenated pieces. */
export async function hmac(key: string | Buffer, pieces: Buffer[]) {
  const mac = createHmac('sha256', key)
  for (const piece of pieces)
    for (let at = 0; at < piece.length; at += slice) {
      mac.update(piece.subarray(at, at + slice))
      await pause()
    }
  return mac.digest()
}

/** Whether one of the signatures is the HMAC of the pieces, in constant time. */
export async function isSigned({
  key,
  pieces,
  signatures,
}: {
  key: string | Buffer
  pieces: Buffer[]
  /** Of 32 bytes each: the caller has checked their shape. */
  signatures: Buffer[]
}) {
  if (Buffer.byteLength(key) < minLength || signatures.length === 0) return false
  const expected = await hmac(key, pieces)
  return signatures.filter((signature) => timingSafeEqual(signature, expected)).length > 0
}

/** The 32 bytes of a header that is exactly the prefix and 64 lower-case hex digits; none otherwise. */
export function hexSignature(header: string | null, prefix = ''): Buffer[] {
  if (!header?.startsWith(prefix)) return []
  const digits = header.slice(prefix.length)
  return /^[0-9a-f]{64}$/.test(digits) ? [Buffer.from(digits, 'hex')] : []
}

/** Whether the header is the HMAC of the body, in that shape. */
export const isSignedInHex = (
  header: string | null,
  { key, body, prefix = '' }: { key: string; body: Buffer; prefix?: string },
) => isSigned({ key, pieces: [body], signatures: hexSignature(header, prefix) })
