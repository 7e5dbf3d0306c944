import { bytes, counted } from '../web/units.ts'
import type { Server } from './call.ts'
import { note } from './say.ts'
import type { Deployment } from './types.ts'
import type { WorkingCopy } from './working-copy.ts'
import { lstat, open, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, pipeline } from 'node:stream'
import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import { tarHead, tarLink, tarPadding } from '../docker/tar.ts'
import { AppError } from '../platform/errors.ts'

/** Null when it was interrupted before all of it was sent: then nothing is deployed. */
export async function upload(
  server: Server,
  copy: WorkingCopy,
  { path, signal }: { path: string; signal: AbortSignal },
): Promise<Deployment | null> {
  const count: Progress = { files: 0, bytes: 0 }
  const cut = new AbortController()
  let isSent = false
  const interrupt = () => {
    if (!isSent) return cut.abort(signal.reason)
    note('All files are sent. Waiting for the response; a second Ctrl-C ends this command.')
  }
  signal.addEventListener('abort', interrupt)
  const stream = watched(archiveOf(copy, count), {
    sent: () => (isSent = true),
    failed: (error) => cut.abort(error),
  })
  const files = counted(copy.paths.length, 'file')
  const stop = showProgress(() => `Uploading: ${count.files} of ${files}, ${bytes(count.bytes)}`)
  try {
    return await server.json<Deployment>(path, {
      method: 'POST',
      stream,
      headers: { 'Content-Type': 'application/zstd' },
      signal: cut.signal,
    })
  } catch (error) {
    if (cut.signal.aborted && cut.signal.reason === signal.reason) return null
    throw error
  } finally {
    signal.removeEventListener('abort', interrupt)
    stop()
  }
}

/** A file that can’t be read is the reason to give, not the connection that ends with it. */
function watched(
  stream: ReadableStream<Uint8Array>,
  { sent, failed }: { sent: () => void; failed: (error: unknown) => void },
) {
  const reader = stream.getReader()
  let isRefused = false
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        sent()
        controller.close()
      } catch (error) {
        if (!isRefused) failed(error)
        controller.error(error)
      }
    },
    cancel(reason) {
      isRefused = true // the server has responded before it had all of it
      return reader.cancel(reason)
    },
  })
}

/** A line that is drawn again, on a terminal only. */
function showProgress(words: () => string) {
  if (!process.stderr.isTTY) return () => {}
  const draw = (text: string) => process.stderr.write(`\r\u001b[K${text}`)
  const timer = setInterval(() => draw(words()), 200)
  return () => {
    clearInterval(timer)
    draw('')
  }
}

/** Bun’s types lack it. */
const { createZstdCompress } = zlib as unknown as { createZstdCompress: () => Transform }

type Progress = { files: number; bytes: number }

/** The files as a tar archive, compressed while it is sent. `count` grows with what was read. */
function archiveOf(copy: WorkingCopy, count: Progress): ReadableStream<Uint8Array> {
  const packed = pipeline(Readable.from(entriesOf(copy, count)), createZstdCompress(), () => {})
  return Readable.toWeb(packed as Readable) as ReadableStream<Uint8Array>
}

async function* entriesOf({ root, paths }: WorkingCopy, count: Progress) {
  for (const path of paths) {
    const place = join(root, path)
    const found = await lstat(place).catch((cause) => {
      throw changed(path, cause)
    })
    const { size, mode } = found
    count.files += 1
    if (found.isSymbolicLink()) yield tarLink({ path, target: await readlink(place) })
    if (!found.isFile()) continue // a submodule that isn't checked out is a folder
    yield tarHead({ path, mode: mode & 0o111 ? 0o755 : 0o644, size })
    yield* contentOf(place, { path, size, count })
    yield tarPadding(size)
  }
  yield Buffer.alloc(1024)
}

/** Exactly as many bytes as the header says. */
async function* contentOf(
  place: string,
  { path, size, count }: { path: string; size: number; count: Progress },
) {
  const file = await open(place, 'r').catch((cause) => {
    throw changed(path, cause)
  })
  try {
    for (let at = 0; at < size;) {
      const chunk = Buffer.alloc(Math.min(size - at, 256 * 1024))
      const { bytesRead } = await file.read(chunk, 0, chunk.length, at)
      if (bytesRead === 0) throw changed(path)
      at += bytesRead
      count.bytes += bytesRead
      yield chunk.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

const changed = (path: string, cause?: unknown) => {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  const why =
    code === 'EACCES'
      ? 'can’t be read'
      : path.includes('\ufffd')
        ? 'has a name that isn’t UTF-8'
        : 'changed while it was read'
  return new AppError('conflict', `${path} ${why}, so nothing was deployed.`, { cause })
}
