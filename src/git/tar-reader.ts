import { AppError } from '../platform/errors.ts'
import { isTurnOver, pause } from '../platform/pause.ts'

/** What an archive has at one path. Names are bytes, one character each, as they may not be UTF-8. */
export type TarEntry = {
  path: string
  kind: 'file' | 'hard link' | 'link' | 'folder'
  isExecutable: boolean
  /** In bytes. */
  size: number
  target: string
}

/** What the records before an entry say of it. */
type Long = { path?: string; linkpath?: string; size?: string; isSparse?: true }

const blockSize = 512

/** In bytes: of the records before an entry, which have its long names. */
const maxRecord = 64 * 1024

const kinds: Record<string, TarEntry['kind']> = {
  '\0': 'file',
  '0': 'file',
  '7': 'file',
  '1': 'hard link',
  '2': 'link',
  '5': 'folder',
}

const others: Record<string, string> = {
  '3': 'a device',
  '4': 'a device',
  '6': 'a named pipe',
  S: 'a sparse file',
}

/**
 * Reads a tar archive (ustar, pax or GNU) entry by entry. The content of a file is in `content` until the next
 * entry is asked for.
 */
export async function* readTar(source: AsyncIterable<Uint8Array>) {
  const bytes = new Bytes(source)
  let long: Long = {}
  let padding = 0
  for (;;) {
    if (isTurnOver()) await pause()
    const head = await bytes.read(blockSize)
    if (head.every((byte) => byte === 0)) return bytes.drain()
    refuseDamaged(head)
    const type = String.fromCharCode(head[156]!)
    const size = sizeIn(long.size) ?? numberIn(head, 124, 12)
    padding = (blockSize - (size % blockSize)) % blockSize
    if (type === 'x' || type === 'g' || type === 'L' || type === 'K') {
      if (size > maxRecord) throw refused(`An entry has a name of more than ${maxRecord} bytes.`)
      const record = await bytes.read(size)
      await bytes.skip(padding)
      if (type === 'x') long = { ...long, ...recordsIn(record) }
      if (type === 'L') long.path = textIn(record, 0, size)
      if (type === 'K') long.linkpath = textIn(record, 0, size)
      continue
    }
    const prefix = head.toString('latin1', 257, 262) === 'ustar' ? prefixIn(head) : ''
    const path = long.path ?? prefix + textIn(head, 0, 100)
    const isSparse = long.isSparse === true
    const kind = path.endsWith('/') && type !== '1' && type !== '2' ? 'folder' : kinds[type]
    if (!kind || isSparse)
      throw refused(
        `${shown(path)} is ${isSparse ? others.S : (others[type] ?? 'of an unknown type')}.`,
      )
    const target = long.linkpath ?? textIn(head, 157, 100)
    long = {}
    const left = { bytes: kind === 'hard link' ? 0 : size }
    const isExecutable = (numberIn(head, 100, 8) & 0o100) !== 0
    const entry: TarEntry = { path, kind, isExecutable, size: left.bytes, target }
    if (kind === 'hard link') padding = 0
    yield { ...entry, content: bytes.chunks(left) }
    await bytes.skip(left.bytes + padding)
  }
}

/** The archive is taken as it arrives; what is asked for and isn't there was cut off. */
class Bytes {
  readonly #source: AsyncIterator<Uint8Array>
  #chunk: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async read(size: number): Promise<Buffer> {
    const parts: Uint8Array[] = []
    for await (const part of this.chunks({ bytes: size })) parts.push(part)
    return parts.length === 1 ? Buffer.from(parts[0]!) : Buffer.concat(parts)
  }

  async skip(size: number) {
    for await (const _ of this.chunks({ bytes: size }));
  }

  /** Reads what follows the archive, so that its compression is checked to the end. */
  async drain() {
    while (!(await this.#source.next()).done);
  }

  /** Counts `left` down. */
  async *chunks(left: { bytes: number }): AsyncGenerator<Uint8Array> {
    while (left.bytes > 0) {
      if (this.#chunk.length === 0) {
        const { done, value } = await this.#source.next()
        if (done) throw refused('The archive is cut short.')
        this.#chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      }
      const part = this.#chunk.subarray(0, left.bytes)
      this.#chunk = this.#chunk.subarray(part.length)
      left.bytes -= part.length
      yield part
    }
  }
}

/** The checksum is computed with its own field filled with spaces. */
function refuseDamaged(head: Buffer) {
  const sum = head.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0)
  if (numberIn(head, 148, 8) !== sum) throw refused('This isn’t a tar archive, or it is damaged.')
}

function textIn(block: Buffer, from: number, length: number) {
  const text = block.toString('latin1', from, from + length)
  const end = text.indexOf('\0')
  return end === -1 ? text : text.slice(0, end)
}

function prefixIn(head: Buffer) {
  // GNU’s own format has times there
  const prefix = head[263] === 0x20 ? '' : textIn(head, 345, 155)
  return prefix && `${prefix}/`
}

/** Octal, or from 8 GiB on base 256, which has the first bit set. */
function numberIn(head: Buffer, from: number, length: number): number {
  if ((head[from]! & 0x80) === 0) {
    const digits = textIn(head, from, length).trim()
    if (/^[0-7]*$/.test(digits)) return parseInt(digits || '0', 8)
  }
  const value = head.subarray(from + 1, from + length).reduce((sum, byte) => sum * 256 + byte, 0)
  if (head[from] === 0x80 && Number.isSafeInteger(value)) return value
  throw refused('This isn’t a tar archive, or it is damaged.')
}

function sizeIn(text: string | undefined) {
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw refused('This isn’t a tar archive, or it is damaged.')
}

/** Each is `<length> <key>=<value>\n`, where the length counts all of it. Other keys may be any number. */
function recordsIn(block: Buffer): Long {
  const text = block.toString('latin1')
  const found: Long = {}
  for (let at = 0; at < text.length;) {
    const [, digits = ''] = /^(\d{1,6}) /.exec(text.slice(at, at + 8)) ?? []
    const record = text.slice(at + digits.length + 1, at + Number(digits) - 1)
    const equals = record.indexOf('=')
    if (digits === '' || equals < 1 || text[at + Number(digits) - 1] !== '\n')
      throw refused('This isn’t a tar archive, or it is damaged.')
    const key = record.slice(0, equals)
    if (key === 'path' || key === 'linkpath' || key === 'size')
      found[key] = record.slice(equals + 1)
    if (key.startsWith('GNU.sparse.')) found.isSparse = true
    at += Number(digits)
  }
  return found
}

export const refused = (why: string) => new AppError('invalid', `The upload was refused. ${why}`)

/** For a person: names come from outside, and may be long. */
export const shown = (path: string) => {
  const text = Buffer.from(path, 'latin1').toString()
  return `“${text.length > 200 ? `${text.slice(0, 200)}…` : text}”`
}
