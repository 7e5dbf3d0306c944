import { setTimeout as sleep } from 'node:timers/promises'
import { refusal } from './failures.ts'

/** Milliseconds in which what comes next gathers. */
const rest = 1

/**
 * The body of an answer over the engine's own socket. The engine sends every line of a log in a piece
 * of its own, and reading them one by one with node:http takes most of a processor. It reads no faster
 * than it is pulled.
 */
export async function* socketStream(
  { socketPath, target }: { socketPath: string; target: string },
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const left = new AbortController()
  try {
    const answer = await fetch(`http://docker${target}`, {
      unix: socketPath,
      keepalive: false,
      timeout: false,
      signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal,
    })
    if (!answer.ok) throw refusal(answer.status, await answer.text())
    for await (const bytes of answer.body ?? []) {
      yield bytes
      await sleep(rest)
    }
  } finally {
    left.abort()
  }
}
