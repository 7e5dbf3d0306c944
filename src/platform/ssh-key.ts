import { generateKeyPairSync, randomBytes } from 'node:crypto'

export function makeSshKey() {
  const pair = generateKeyPairSync('ed25519')
  const jwk = pair.privateKey.export({ format: 'jwk' })
  const open = Buffer.from(jwk.x!, 'base64url')
  const seed = Buffer.from(jwk.d!, 'base64url')
  const blob = Buffer.concat([field(algorithm), field(open)])
  return {
    /** One line, as the settings of a repository expect it. */
    publicKey: `${algorithm} ${blob.toString('base64')} ${comment}`,
    /** In OpenSSH's format, without a passphrase. */
    privateKey: pemOf(privateFile({ blob, open, seed })),
  }
}

const algorithm = 'ssh-ed25519'
const comment = 'davit'

/** PROTOCOL.key of OpenSSH: one key under the cipher “none”. */
function privateFile({ blob, open, seed }: Record<'blob' | 'open' | 'seed', Buffer>): Buffer {
  const check = randomBytes(4) // Repeated, so that a wrong passphrase is detected.
  const secret = Buffer.concat([
    check,
    check,
    field(algorithm),
    field(open),
    field(Buffer.concat([seed, open])),
    field(comment),
  ])
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (secret.length % 8)) % 8))
  return Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    field('none'),
    field('none'),
    field(''),
    number(1),
    field(blob),
    field(Buffer.concat([secret, padding])),
  ])
}

function pemOf(file: Buffer): string {
  const lines = file.toString('base64').match(/.{1,70}/g)!
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`
}

/** RFC 4251: the length in four bytes, then the bytes. */
function field(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([number(bytes.length), bytes])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
