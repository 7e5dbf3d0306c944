import { rm } from 'node:fs/promises'
import { Readable, pipeline } from 'node:stream'
import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import { AppError } from '../platform/errors.ts'
import { bytes as inBytes } from '../web/units.ts'
import { mostFiles } from './context-files.ts'
import { initMirror } from './mirror.ts'
import { modes } from './objects.ts'
import { GitError, feedGit, runGit } from './run.ts'
import { readTar, refused, shown } from './tar-reader.ts'
import type { GitTools } from './tools.ts'

/** Bun’s types lack it. */
const { createZstdDecompress } = zlib as unknown as { createZstdDecompress: () => Transform }

type Body = AsyncIterable<Uint8Array>

/**
 * Makes a repository of a tar archive, with one commit: a deployment then reads it as any other. No file of it
 * is ever written under its own name, so no name or link leads out of it. A folder that fails is removed.
 */
export async function importUpload(
  tools: GitTools,
  { folder, body, signal }: { folder: string; body: Body; signal: AbortSignal },
): Promise<{ commit: string; files: number; bytes: number }> {
  const count = { files: 0, bytes: 0 }
  try {
    await initMirror(tools, { mirror: folder, format: 'sha1', signal })
    await feedGit(tools.setup, {
      command: 'fast-import',
      options: ['--quiet', '--done'],
      // larger files are passed on as they come, not held in memory
      config: ['core.bigFileThreshold=1m', 'core.compression=1', 'fastimport.unpackLimit=1'],
      mirror: folder,
      signal,
      input: commandsFor(expanded(body, tools.limits.size), count),
    })
    const head = { command: 'rev-parse', values: ['refs/heads/upload'], mirror: folder, signal }
    const commit = (await runGit(tools.setup, head)).toString().trim()
    return { commit, ...count }
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
  if (mark.startsWith('1f8b')) return through(whole, zlib.createGunzip())
  return mark === '28b52ffd' ? through(whole, createZstdDecompress()) : whole
}

async function* joined(head: Uint8Array, rest: AsyncIterator<Uint8Array>) {
  if (head.length > 0) yield head
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** One object for each content: files that are links to another share it. */
type File = { mode: string; mark: number }

/** The commands of git’s fast-import that store the files and then their commit. */
async function* commandsFor(archive: Body, count: { files: number; bytes: number }) {
  const files = new Map<string, File>()
  let marks = 0
  for await (const { path, kind, isExecutable, size, target, content } of readTar(archive)) {
    const name = nameIn(path)
    if (kind === 'folder' || name === null) continue
    if (kind === 'hard link') {
      const file = files.get(nameIn(target) ?? '')
      if (!file) throw refused(`${shown(path)} is a link to a file that isn’t before it.`)
      files.set(name, file)
    } else {
      const mark = ++marks
      const length = kind === 'link' ? target.length : size
      yield Buffer.from(`blob\nmark :${mark}\ndata ${length}\n`)
      if (kind === 'link') yield Buffer.from(target, 'latin1')
      else yield* content
      yield newLine
      const mode = kind === 'link' ? modes.link : isExecutable ? '100755' : modes.file
      files.set(name, { mode, mark })
      count.bytes += length
    }
    if (files.size > mostFiles) throw tooMany()
  }
  if (files.size === 0) throw refused('It has no files.')
  count.files = files.size
  const now = Math.floor(Date.now() / 1000)
  yield Buffer.from(`commit refs/heads/upload\ncommitter davit <davit@localhost> ${now} +0000\n`)
  yield Buffer.from('data 6\nupload\n')
  for (const [name, { mode, mark }] of files)
    yield Buffer.from(`M ${mode} :${mark} ${quoted(name)}\n`, 'latin1')
  yield Buffer.from('\ndone\n')
}

const newLine = Buffer.from('\n')

const quoted = (name: string) => `"${name.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`

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
