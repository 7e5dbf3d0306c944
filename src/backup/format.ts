import { open, stat } from 'node:fs/promises'
import { z } from 'zod'
import { Failure } from '../platform/errors.ts'
import { DamagedStream } from '../platform/sealed-stream.ts'

/** The first line of a backup; the second one is the header of its seal, and chunks follow. */
export const firstLine = 'davit backup 1'

/** A name is a path in the data directory, so no others are accepted. */
const fileNames = ['secret.key', 'davit.db', 'logs.db', 'certificates.tar'] as const

const manifest = z.object({
  /** The version of Davit that wrote it. */
  davit: z.string(),
  createdAt: z.string(),
  instanceId: z.string(),
  /** `file`: the backup contains the key. `setting`: the operator keeps it as DAVIT_SECRET_KEY. */
  key: z.enum(['file', 'setting']),
  settings: z.record(z.string(), z.string()),
  files: z.array(
    z.object({
      name: z.enum(fileNames),
      /** In bytes. */
      size: z.number().int().nonnegative(),
      rows: z.record(z.string(), z.number()).nullable(),
    }),
  ),
})

export type Manifest = z.infer<typeof manifest>
export type FileName = (typeof fileNames)[number]

/** The sealed content: the length of the manifest, the manifest, then the files in its order. */
export async function* contentOf(directory: string, about: Manifest) {
  const text = Buffer.from(JSON.stringify(about))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  yield Buffer.concat([length, text])
  for (const { name, size } of about.files) {
    const file = `${directory}/${name}`
    if ((await stat(file)).size !== size) throw new Error(`${file} changed while it was read`)
    yield* Bun.file(file).stream()
  }
}

/** In bytes. A greater length isn't valid. */
const mostManifest = 1024 * 1024

export async function readManifest(reader: ByteReader): Promise<Manifest> {
  const length = (await reader.take(4)).readUInt32BE()
  if (length > mostManifest) throw otherVersion()
  const text = (await reader.take(length)).toString('utf8')
  const read = manifest.safeParse(JSON.parse(text))
  if (!read.success) throw otherVersion()
  return read.data
}

export const otherVersion = () =>
  new Failure(
    'backup_newer',
    'The backup was made by another version of Davit, in a format that this one doesn’t know.',
    'Restore it with the version that made it.',
  )

/** Writes files for the owner only, and syncs them to disk. */
export async function writeFiles(reader: ByteReader, { files }: Manifest, directory: string) {
  for (const { name, size } of files) {
    const file = await open(`${directory}/${name}`, 'wx', 0o600)
    try {
      for await (const part of reader.parts(size)) await file.writeFile(part)
      await file.sync()
    } finally {
      await file.close()
    }
  }
  await reader.end()
}

/** Reads exact numbers of bytes from a stream. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  #rest = Buffer.alloc(0)

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async take(count: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for await (const part of this.parts(count)) parts.push(part)
    return Buffer.concat(parts)
  }

  /** Yields this many bytes as they arrive, without copying. */
  async *parts(count: number) {
    for (let left = count; left > 0;) {
      if (this.#rest.length === 0 && !(await this.#more())) throw new DamagedStream()
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      yield part
    }
  }

  /** Throws when more bytes follow. Only reading to the end proves that nothing was cut off. */
  async end() {
    if (this.#rest.length > 0 || (await this.#more())) throw new DamagedStream()
  }

  async #more() {
    for (;;) {
      const { done, value } = await this.#source.next()
      if (done) return false
      if (value.length === 0) continue
      this.#rest = Buffer.from(value)
      return true
    }
  }
}
