import { bytes, counted } from '../web/units.ts'
import { archiveOf } from './archive.ts'
import type { Progress } from './archive.ts'
import type { Server } from './call.ts'
import { note } from './say.ts'
import type { Deployment } from './types.ts'
import type { WorkingCopy } from './working-copy.ts'

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
