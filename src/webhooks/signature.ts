import { createHmac, timingSafeEqual } from 'node:crypto'
import { pause } from '../platform/pause.ts'

/** In bytes. Shorter secrets are never valid, as even an empty key would verify. */
const minLength = 16

/** Bytes that are hashed before other work may run: less than a millisecond's work. */
const slice = 512 * 1024

export async function hmac(key: string | Buffer, pieces: Buffer[]) {
  const mac = createHmac('sha256', key)
  for (const piece of pieces)
    for (let at = 0; at < piece.length; at += slice) {
      mac.update(piece.subarray(at, at + slice))
      await pause()
    }
  return mac.digest()
}

/** True when one of the signatures is the HMAC of the pieces. Compares in constant time. */
export async function isSigned({
  key,
  pieces,
  signatures,
}: {
  key: string | Buffer
  pieces: Buffer[]
  /** 32 bytes each, which the caller has checked. */
  signatures: Buffer[]
}) {
  if (Buffer.byteLength(key) < minLength || signatures.length === 0) return false
  const expected = await hmac(key, pieces)
  return signatures.filter((signature) => timingSafeEqual(signature, expected)).length > 0
}

/** Returns the 32 bytes of a header that is the prefix and 64 lower-case hex digits, else nothing. */
export function hexSignature(header: string | null, prefix = ''): Buffer[] {
  if (!header?.startsWith(prefix)) return []
  const digits = header.slice(prefix.length)
  return /^[0-9a-f]{64}$/.test(digits) ? [Buffer.from(digits, 'hex')] : []
}

/** True when the header is the HMAC of the body, in the form that `hexSignature` reads. */
export const isSignedInHex = (
  header: string | null,
  { key, body, prefix = '' }: { key: string; body: Buffer; prefix?: string },
) => isSigned({ key, pieces: [body], signatures: hexSignature(header, prefix) })
