import { createHash, createPublicKey, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { Failure } from './errors.ts'

/*
 * Signatures of minisign, so that its own program can check them too: Ed25519 over the BLAKE2b-512 of the
 * content.
 */

/** Two bytes for the algorithm, eight for the key's id, and the key itself. */
type PublicKey = { id: Buffer; key: KeyObject }

/** Reads the second line of a file `minisign.pub`. Null when the text isn't a public key. */
export function readPublicKey(text: string): PublicKey | null {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== 42 || bytes.toString('latin1', 0, 2) !== 'Ed') return null
  const x = bytes.subarray(10).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return { id: bytes.subarray(2, 10), key }
}

/** Throws a Failure unless this key signed the content. The signature's comments aren't used. */
export function checkSignature(
  content: Uint8Array,
  { signature: text, publicKey, name }: { signature: string; publicKey: string; name: string },
) {
  const known = readPublicKey(publicKey)
  const [, first = '', comment = '', second = ''] = text.split(/\r?\n/)
  const signed = Buffer.from(first, 'base64')
  const [algorithm, id, signature] = [
    signed.subarray(0, 2),
    signed.subarray(2, 10),
    signed.subarray(10),
  ]
  const trusted = comment.replace(/^trusted comment: /, '')
  if (
    !known ||
    algorithm.toString('latin1') !== 'ED' ||
    signature.length !== 64 ||
    trusted === comment
  )
    throw refused(name, 'it isn’t one of minisign, or it is damaged')
  if (!id.equals(known.id)) throw refused(name, 'it was made with another key')
  const digest = createHash('blake2b512').update(content).digest()
  const both = Buffer.concat([signature, Buffer.from(trusted)])
  const isWhole =
    verify(null, digest, known.key, signature) &&
    verify(null, both, known.key, Buffer.from(second, 'base64'))
  if (!isWhole) throw refused(name, contentChanged)
}

export const contentChanged = 'what was signed has changed'

const refused = (name: string, why: string) =>
  new Failure(
    'release_signature',
    `The signature of ${name} is refused: ${why}.`,
    'Download the release again, from where you trust it. Nothing was changed.',
  )
