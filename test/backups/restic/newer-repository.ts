import { createCipheriv, randomBytes } from 'node:crypto'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** As `restic cat masterkey` prints it; all in base64. */
export type MasterKey = { mac: { k: string; r: string }; encrypt: string }

/** Writes the configuration of a repository again, as one that a restic of the future made. */
export function makeNewer(folder: string, { key, config }: { key: MasterKey; config: object }) {
  const path = join(folder, 'config')
  chmodSync(path, 0o600)
  writeFileSync(path, sealed(key, JSON.stringify({ ...config, version: 99 })))
}

/** As restic seals all its files: AES-256-CTR, and Poly1305-AES of what that gives. */
function sealed({ mac, encrypt }: MasterKey, text: string) {
  const iv = randomBytes(16)
  const cipher = createCipheriv('aes-256-ctr', Buffer.from(encrypt, 'base64'), iv)
  const content = Buffer.concat([cipher.update(text), cipher.final()])
  const once = createCipheriv('aes-128-ecb', Buffer.from(mac.k, 'base64'), null).setAutoPadding(
    false,
  )
  const s = once.update(iv)
  return Buffer.concat([iv, content, poly1305(Buffer.from(mac.r, 'base64'), s, content)])
}

function poly1305(r: Buffer, s: Buffer, message: Buffer) {
  const number = (bytes: Uint8Array) =>
    bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  const clamped = number(r) & 0x0ffffffc0ffffffc0ffffffc0fffffffn
  let sum = 0n
  for (let at = 0; at < message.length; at += 16) {
    const block = Buffer.concat([message.subarray(at, at + 16), Buffer.from([1])])
    sum = ((sum + number(block)) * clamped) % ((1n << 130n) - 5n)
  }
  sum += number(s)
  return Buffer.from(Array.from({ length: 16 }, (_, n) => Number((sum >> BigInt(8 * n)) & 255n)))
}
