import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from 'node:crypto'
import { sameSecret } from './secrets.ts'

/** Bytes of plain text in a chunk; the last one may be shorter. */
const chunkSize = 64 * 1024
const tagSize = 16

/** 128 MiB and about half a second for each guess. */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 192 * 2 ** 20 }

/** The first line of a stream, and the key of its chunks, which no other stream has. */
export type Seal = { header: string; key: Buffer }

/** The stream was truncated or changed. */
export class DamagedStream extends Error {}

/**
 * With a passphrase, the header has the salt and a check of the key. Without one it has the key itself: the
 * stream detects damage, but hides nothing.
 */
export async function newSeal(passphrase: string | null): Promise<Seal> {
  const random = randomBytes(32)
  if (passphrase === null) return { header: `open ${random.toString('base64url')}`, key: random }
  const key = await keyOf(passphrase, random)
  return { header: `sealed ${random.toString('base64url')} ${checkOf(key)}`, key }
}

export const wantsPassphrase = (header: string) => header.startsWith('sealed ')

/** Reads the first line of a stream; null when the passphrase is wrong. */
export async function openSeal(header: string, passphrase: string | null): Promise<Seal | null> {
  const [, random = '', check = ''] = header.split(' ')
  const bytes = Buffer.from(random, 'base64url')
  if (!wantsPassphrase(header)) return { header, key: keyInClear(bytes) }
  const key = await keyOf(passphrase ?? '', bytes)
  return sameSecret(checkOf(key), check) ? { header, key } : null
}

function keyInClear(bytes: Buffer) {
  if (bytes.length !== 32) throw new DamagedStream()
  return bytes
}

const keyOf = (passphrase: string, salt: Buffer) =>
  new Promise<Buffer>((resolve, reject) =>
    scrypt(passphrase.normalize('NFC'), salt, 32, cost, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )

const checkOf = (key: Buffer) =>
  Buffer.from(hkdfSync('sha256', key, '', 'davit passphrase', 16)).toString('base64url')

/**
 * AES-256-GCM in chunks: each is bound to the header, its position and whether it is the last, so that
 * changes, moves, omissions and truncation are detected. Little of it is in memory at once.
 */
export async function* sealChunks(content: AsyncIterable<Uint8Array>, { header, key }: Seal) {
  let place = 0
  for await (const { chunk, last } of chunksOf(content, chunkSize)) {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(place++, last))
    cipher.setAAD(Buffer.from(header))
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
  }
}

/** Yields the content. Throws at the first chunk that was changed. */
export async function* openChunks(sealed: AsyncIterable<Uint8Array>, { header, key }: Seal) {
  let place = 0
  for await (const { chunk, last } of chunksOf(sealed, chunkSize + tagSize)) {
    if (chunk.length < tagSize) throw new DamagedStream()
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(place++, last))
    decipher.setAAD(Buffer.from(header)).setAuthTag(chunk.subarray(-tagSize))
    const text = decipher.update(chunk.subarray(0, -tagSize))
    try {
      decipher.final()
    } catch {
      throw new DamagedStream()
    }
    yield text
  }
}

function nonceOf(place: number, last: boolean) {
  const nonce = Buffer.alloc(12)
  nonce.writeBigUInt64BE(BigInt(place), 3)
  nonce[11] = last ? 1 : 0
  return nonce
}

/** Cuts bytes into pieces of that size; at least one, and the last one is marked. */
async function* chunksOf(bytes: AsyncIterable<Uint8Array>, size: number) {
  let held: Uint8Array[] = []
  let length = 0
  for await (const part of bytes) {
    held.push(part)
    length += part.length
    if (length <= size) continue
    const all = Buffer.concat(held)
    let at = 0
    // a full chunk is held back: it may be the last
    for (; all.length - at > size; at += size)
      yield { chunk: all.subarray(at, at + size), last: false }
    held = [all.subarray(at)]
    length = all.length - at
  }
  yield { chunk: Buffer.concat(held), last: true }
}
