import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, pipeline } from 'node:stream'
import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import { AppError } from '../platform/errors.ts'
import { isTurnOver, pause } from '../platform/pause.ts'
import { bytes as inBytes } from '../web/units.ts'
import { mostFiles } from './context-files.ts'
import { initMirror } from './mirror.ts'
import { commitTree, listTree, modes, writeTree } from './objects.ts'
import type { Entry } from './objects.ts'
import { GitError, feedGit } from './run.ts'
import { readTar, refused, shown } from './tar-reader.ts'
import type { GitTools } from './tools.ts'
import { uploadRef } from './folders.ts'

/** Bun’s types lack it. */
const { createZstdDecompress } = zlib as unknown as {
  createZstdDecompress: typeof zlib.createGunzip
}

type Body = AsyncIterable<Uint8Array>

/** In bytes; smaller pieces cost more than their content. */
const pieces = { chunkSize: 256 * 1024 }

/**
 * Makes a repository of a tar archive, with one commit: a deployment then reads it as any other. No file of it
 * is ever written under its own name, so no name or link leads out of it. A folder that fails is removed.
 */
export async function importUpload(
  tools: GitTools,
  { folder, body, signal }: { folder: string; body: Body; signal: AbortSignal },
): Promise<{ commit: string; files: number; bytes: number }> {
  const objects = { tools, mirror: folder, alternates: [], signal }
  const marks = join(folder, 'davit-marks')
  const archive: Archive = { files: new Map(), bytes: 0 }
  try {
    await initMirror(tools, { mirror: folder, format: 'sha1', signal })
    await feedGit(tools.setup, {
      command: 'fast-import',
      options: ['--quiet', '--done', `--export-marks=${marks}`],
      // larger files are passed on as they come, not held in memory
      config: ['core.bigFileThreshold=1m', 'core.compression=1', 'fastimport.unpackLimit=1'],
      mirror: folder,
      signal,
      input: contentsOf(expanded(body, tools.limits.size), archive),
    })
    const entries = await entriesOf(archive, await Bun.file(marks).text())
    // not through fast-import, which takes the square of a folder's files
    const tree = await writeTree(objects, entries)
    // git keeps the later of two that are a file and a folder of one name
    if ((await listTree(objects, tree)).length < entries.length)
      throw refused('One of its names is that of a file and of a folder.')
    const commit = await commitTree(objects, { tree, dateOf: null })
    await Bun.write(join(folder, uploadRef), `${commit}\n`)
    return { commit, files: entries.length, bytes: archive.bytes }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    if (!(error instanceof GitError)) throw error
    if (error.says(/No space left|unable to write|write error/i))
      throw new AppError(
        'unavailable',
        'The disk of Davit is full. Free some space, then try again.',
      )
    throw refused('git can’t store it.')
  }
}

/** Each line of git is `:<mark> <hash>`, in the order of the marks. */
async function entriesOf({ files }: Archive, marks: string) {
  const hashes = marks.trimEnd().split('\n')
  const entries: Entry[] = []
  for (const [bytes, { mode, mark }] of files) {
    entries.push({ mode, hash: hashes[mark - 1]!.split(' ')[1]!, bytes, path: bytes })
    if (isTurnOver()) await pause()
  }
  return entries
}

/** Decompresses gzip and zstd, which begin with their own marks. */
async function* expanded(body: Body, max: number): AsyncGenerator<Uint8Array> {
  let size = 0
  const archive = await unpacked(body)
  try {
    for await (const chunk of archive) {
      size += chunk.length
      if (size > max) throw tooLarge(max)
      yield chunk
    }
  } catch (error) {
    if (/^(Z_|ZSTD_|ERR_ZSTD|zstd)/i.test((error as NodeJS.ErrnoException).code ?? ''))
      throw refused('The archive is cut short, or its compression is damaged.')
    throw error
  }
}

async function unpacked(body: Body): Promise<Body> {
  const source = body[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < 4) {
    const { done, value } = await source.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  const whole = joined(head, source)
  const mark = head.toString('hex', 0, 4)
  if (mark.startsWith('1f8b')) return through(whole, zlib.createGunzip(pieces))
  return mark === '28b52ffd' ? through(whole, createZstdDecompress(pieces)) : whole
}

async function* joined(head: Uint8Array, rest: AsyncIterator<Uint8Array>) {
  if (head.length > 0) yield head
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** The files by their names; those that are links to another one have its content. */
type Archive = { files: Map<string, { mode: string; mark: number }>; bytes: number }

/** The commands of git’s fast-import that store the contents, numbered from 1. */
async function* contentsOf(source: Body, archive: Archive): AsyncGenerator<Uint8Array> {
  const { files } = archive
  let mark = 0
  for await (const { path, kind, isExecutable, size, target, content } of readTar(source)) {
    const name = nameIn(path)
    if (kind === 'folder' || name === null) continue
    if (kind === 'hard link') {
      const file = files.get(nameIn(target) ?? '')
      if (!file) throw refused(`${shown(path)} is a link to a file that isn’t before it.`)
      files.set(name, file)
    } else {
      const length = kind === 'link' ? target.length : size
      yield Buffer.from(`blob\nmark :${++mark}\ndata ${length}\n`)
      if (kind === 'link') yield Buffer.from(target, 'latin1')
      else yield* content
      const mode = kind === 'link' ? modes.link : isExecutable ? '100755' : modes.file
      files.set(name, { mode, mark })
      archive.bytes += length
    }
    // several of one name count too: git stores each
    if (Math.max(files.size, mark) > mostFiles) throw tooMany()
  }
  if (files.size === 0) throw refused('It has no files.')
  yield Buffer.from('done\n')
}

/** In bytes, as on Linux. */
const maxPath = 4096
const maxName = 255

/** Null for what isn't part of the files: the archive's root, and a `.git`. */
function nameIn(path: string): string | null {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (path.startsWith('/') || parts.includes('..') || path.includes('\0'))
    throw refused(`${shown(path)} leads out of the archive.`)
  if (path.length > maxPath || parts.some((part) => part.length > maxName))
    throw refused(`The name ${shown(path)} is too long.`)
  if (parts.length === 0 || parts.some((part) => part.toLowerCase() === '.git')) return null
  return parts.join('/')
}

const tooMany = () =>
  new AppError(
    'too_large',
    `The upload has more than ${mostFiles.toLocaleString('en')} files. Leave out what the build doesn’t need.`,
  )

export const tooLarge = (max: number) =>
  new AppError(
    'too_large',
    `The files of the upload are larger than ${inBytes(max)}. The operator can allow more with DAVIT_REPOSITORY_SIZE.`,
  )

const through = (source: Body, transform: Transform): Body =>
  pipeline(Readable.from(source), transform, () => {}) // iterating it throws what fails
