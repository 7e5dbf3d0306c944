import { hmac } from '@oslojs/crypto/hmac'
import { SHA256, sha256 } from '@oslojs/crypto/sha2'
import { constantTimeEqual } from '@oslojs/crypto/subtle'
import { encodeBase32UpperCaseNoPadding, encodeHexLowerCase } from '@oslojs/encoding'
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from './errors.ts'
import { writeFileAtomically } from './atomic-write.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** 256 random bits as base64url: 43 characters that fit a cookie, a header or a link. */
export const randomToken = () => randomBytes(32).toString('base64url')

/** A code that a person can type: 16 characters of base32 (80 random bits) in groups of four. */
export const randomCode = () =>
  encodeBase32UpperCaseNoPadding(randomBytes(10)).match(/.{4}/g)!.join('-')

/** For values in other alphabets. */
export const randomBytesOf = (count: number): Uint8Array => randomBytes(count)

/** A JSON Web Token signed with HMAC-SHA-256 under the key's UTF-8 bytes. */
export function signedToken(claims: Record<string, unknown>, key: string) {
  const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
  const signature = Buffer.from(hmac(SHA256, bytesOf(key), bytesOf(signed)))
  return `${signed}.${signature.toString('base64url')}`
}

/** SHA-256 in hex, for storing a token in the database. */
export const hashToken = (token: string) => encodeHexLowerCase(sha256(bytesOf(token)))

export const sameSecret = (a: string, b: string) =>
  constantTimeEqual(sha256(bytesOf(a)), sha256(bytesOf(b)))

/** Seals and signs with keys derived from the installation's one secret (HKDF, RFC 5869). */
export class Secrets {
  readonly #sealing: Buffer
  readonly #signing: Uint8Array

  constructor(secret: string) {
    const derive = (use: string) =>
      Buffer.from(hkdfSync('sha256', bytesOf(secret), new Uint8Array(), `davit ${use}`, 32))
    this.#sealing = derive('seal')
    this.#signing = derive('sign')
  }

  /**
   * AES-256-GCM: base64url of nonce (12 bytes), tag (16) and ciphertext. The context (what the value is and
   * whose) is authenticated, so that a sealed value can't be moved to another row.
   */
  seal(text: string, context: string) {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#sealing, nonce).setAAD(Buffer.from(context))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
  }

  /** Throws when the value was changed, belongs to another context, or was sealed under another key. */
  open(sealed: string, context: string) {
    const bytes = Buffer.from(sealed, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', this.#sealing, bytes.subarray(0, 12))
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(12, 28))
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
  }

  /** HMAC-SHA-256 in hex. */
  sign(message: string) {
    return encodeHexLowerCase(hmac(SHA256, this.#signing, bytesOf(message)))
  }
}

/**
 * Uses the configured secret, or the key file of the data directory, created at the first start. Throws when
 * that file is too short for a key: sealing with the rest of it would hide nothing.
 */
export function openSecrets({ dataDir, secretKey }: { dataDir: string; secretKey: string | null }) {
  if (secretKey) return new Secrets(secretKey)
  const path = join(dataDir, 'secret.key')
  if (!existsSync(path)) {
    refuseNewKey(dataDir, path)
    writeFileAtomically(path, `${randomToken()}\n`)
  }
  const key = readKeyFile(path)
  if (key.length < 32)
    throw new Failure(
      'key_cut_short',
      `The key file ${path} is truncated.`,
      'Restore it from a backup, or delete it if this Davit is new.',
    )
  return new Secrets(key)
}

/** A new key couldn't open anything in an old database. */
function refuseNewKey(dataDir: string, path: string) {
  if (!existsSync(join(dataDir, 'davit.db'))) return
  throw new Failure(
    'key_missing',
    `The key file ${path} is missing, and the secrets in the database can’t be read without it.`,
    'Restore it from a backup, or set the DAVIT_SECRET_KEY that was set before.',
  )
}

export function readKeyFile(path: string) {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw new Failure(
      'key_unreadable',
      `The key file ${path} can’t be read (${(cause as NodeJS.ErrnoException).code}).`,
      'The user who runs Davit must own it.',
      { cause },
    )
  }
}
