import { generateKeyPairSync } from 'node:crypto'

/** A secret key as minisign writes it: without a password, unless told otherwise. */
export function newSecretKey({ id = '12345678', withPassword = false } = {}) {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { d, x } = privateKey.export({ format: 'jwk' })
  const bytes = Buffer.concat([
    Buffer.from(withPassword ? 'EdScB2' : 'Ed\0\0B2', 'latin1'),
    Buffer.alloc(48),
    Buffer.from(id, 'latin1'),
    Buffer.from(d!, 'base64url'),
    Buffer.from(x!, 'base64url'),
    Buffer.alloc(32),
  ])
  return `untrusted comment: minisign secret key\n${bytes.toString('base64')}\n`
}
