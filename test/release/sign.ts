import { createHash, createPrivateKey, sign } from 'node:crypto'

export type SigningKey = { id: Buffer; seed: Buffer; publicKey: string }

/**
 * Reads a secret key of minisign that has no password (`minisign -G -W`): a job that releases can't type one.
 * It has, each behind the other: algorithms (6 bytes), what a password would need (48), the id (8), the key's
 * seed (32) and its public half (32), a checksum.
 */
export function readSigningKey(text: string): SigningKey {
  const line = text.split('\n').find((line) => /^[\w+/=]{100,}$/.test(line)) ?? ''
  const bytes = Buffer.from(line, 'base64')
  if (bytes.length !== 158 || bytes.toString('latin1', 0, 2) !== 'Ed')
    throw new Error('RELEASE_KEY isn’t a secret key of minisign.')
  if (bytes.readUInt16BE(2) !== 0)
    throw new Error('RELEASE_KEY has a password. Make a key without one: minisign -G -W.')
  const [id, seed, half] = [bytes.subarray(54, 62), bytes.subarray(62, 94), bytes.subarray(94, 126)]
  return { id, seed, publicKey: Buffer.concat([Buffer.from('Ed'), id, half]).toString('base64') }
}

/** The text of a `.minisig` file. */
export function signatureOf(content: Uint8Array, { id, seed }: SigningKey, comment: string) {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex') // of PKCS #8 with a key of Ed25519
  const der = Buffer.concat([prefix, seed])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const signature = sign(null, createHash('blake2b512').update(content).digest(), key)
  const whole = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key)
  return [
    'untrusted comment: signature of a release of Davit',
    Buffer.concat([Buffer.from('ED'), id, signature]).toString('base64'),
    `trusted comment: ${comment}`,
    whole.toString('base64'),
    '',
  ].join('\n')
}
