import type { Duplex } from 'node:stream'
import type { Abortable, Engine } from './engine.ts'
import { FrameSplitter } from './log-entries.ts'

export type TerminalSize = { columns: number; rows: number }

export type Attached = {
  /** Ends with the process. Unread output blocks it. */
  output: AsyncIterable<Uint8Array>
  /** `taken` is called when the engine has accepted the input. */
  write(input: Uint8Array, taken: () => void): void
  /** Ends its input, unless that is a terminal's. */
  end?(): void
  resize(size: TerminalSize): Promise<void>
  close(): Promise<void>
}

/** Otherwise the engine reads Ctrl-P as the start of its detach sequence. */
export const detachKeys = 'ctrl-^,ctrl-@,ctrl-^,ctrl-@'

/**
 * Attaches to the process of a container, now or once it starts: to its output from then on, and with a
 * terminal or with `stdin` to its input; otherwise input is discarded. Detaching doesn't end the process, but
 * for one whose input hasn't ended: it would take what it has for all.
 */
export async function attachContainer(
  engine: Engine,
  id: string,
  { tty, stdin = false, signal }: { tty: boolean; stdin?: boolean } & Abortable,
): Promise<Attached> {
  const path = `/containers/${encodeURIComponent(id)}`
  const takesInput = tty || stdin
  const query = { stream: true, stdin: takesInput, stdout: true, stderr: true, detachKeys }
  const connection = await engine.hijack(`${path}/attach`, { query, signal })
  connection.on('error', () => {}) // the reader gets the error
  let isOpen = stdin
  const close = async () => {
    if (isOpen && !connection.readableEnded)
      await engine.request('POST', `${path}/kill`).catch(() => {}) // it has ended
    connection.destroy()
  }
  signal?.addEventListener('abort', () => void close(), { once: true })
  return {
    output: tty ? follow(connection) : unframed(connection),
    write(input, taken) {
      if (takesInput) connection.write(input, (error) => error ?? taken())
      else taken()
    },
    end() {
      if (!isOpen) return
      isOpen = false
      connection.end()
    },
    async resize({ columns, rows }) {
      if (tty) await engine.request('POST', `${path}/resize`, { query: { w: columns, h: rows } })
    },
    close,
  }
}

/** Yields what arrives, until the connection ends or is closed. */
export async function* follow(
  connection: Duplex,
  rest: Uint8Array = Buffer.alloc(0),
): AsyncGenerator<Uint8Array> {
  if (rest.length > 0) yield rest
  try {
    for await (const chunk of connection) yield chunk as Uint8Array
  } catch (error) {
    if (!connection.destroyed) throw error
  }
}

/** Yields the chunks of both streams as they arrive. */
async function* unframed(connection: Duplex): AsyncGenerator<Uint8Array> {
  const frames = new FrameSplitter()
  for await (const chunk of follow(connection)) {
    const pieces: Uint8Array[] = []
    frames.push(chunk, (_, bytes, from, end) => pieces.push(bytes.subarray(from, end).slice()))
    if (pieces.length > 0) yield Buffer.concat(pieces)
  }
}
