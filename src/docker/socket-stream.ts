import { setTimeout as sleep } from 'node:timers/promises'
import { refusal } from './failures.ts'

/** Milliseconds in which chunks are collected. */
const rest = 1

/** Bytes after which the next chunk is read at once: lines of a log don't arrive like that. */
const plenty = 32 * 1024

type SocketRequest = { socketPath: string; target: string }

type Options = { signal?: AbortSignal | undefined; opened?: (() => void) | undefined }

/**
 * Requests over the engine's socket without node:http, which takes a millisecond of processor time for each.
 * The signal ends it, even while the body is read.
 */
export async function askSocket({ socketPath, target }: SocketRequest, signal?: AbortSignal) {
  const answer = await fetch(`http://docker${target}`, {
    unix: socketPath,
    keepalive: false,
    timeout: false,
    ...(signal && { signal }),
  })
  if (!answer.ok) throw refusal(answer.status, await answer.text())
  return answer
}

/**
 * The body of a response over the engine's socket, with backpressure. The engine sends every line of a log in
 * its own chunk, and reading them one by one with node:http uses most of a processor.
 */
export async function* socketStream(
  asked: SocketRequest,
  { signal, opened }: Options,
): AsyncGenerator<Uint8Array> {
  const left = new AbortController()
  try {
    const either = signal ? AbortSignal.any([signal, left.signal]) : left.signal
    const answer = await askSocket(asked, either)
    opened?.()
    // a loop over the body would cancel it when left, which fails once the signal has aborted
    const reader = answer.body?.getReader()
    for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
      yield read.value
      if (read.value.length < plenty) await sleep(rest)
    }
  } finally {
    left.abort()
  }
}
