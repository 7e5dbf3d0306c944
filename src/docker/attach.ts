import type { Duplex } from 'node:stream'
import type { Abortable, Engine } from './engine.ts'
import { FrameSplitter } from './log-entries.ts'

export type TerminalSize = { columns: number; rows: number }

/** What runs in a container as a person or a program has it: what it shows, and what is typed to it. */
export type Attached = {
  /** What it shows, until it ends. What isn't read holds it up. */
  output: AsyncIterable<Uint8Array>
  /** Calls back when the engine has taken it. */
  write(input: Uint8Array, taken: () => void): void
  resize(size: TerminalSize): Promise<void>
  /** Lets go of it. */
  close(): Promise<void>
}

/** Else the engine takes Ctrl-P for the start of a request to let go of the terminal. */
export const detachKeys = 'ctrl-^,ctrl-@,ctrl-^,ctrl-@'

/**
 * Attaches to what a container runs, or will run once it starts: what it writes from then on, and with a
 * terminal what is typed to it; without one input goes nowhere. Letting go of it ends nothing.
 */
export async function attachContainer(
  engine: Engine,
  id: string,
  { tty, signal }: { tty: boolean } & Abortable,
): Promise<Attached> {
  const path = `/containers/${encodeURIComponent(id)}`
  const query = { stream: true, stdin: tty, stdout: true, stderr: true, detachKeys }
  const connection = await engine.hijack(`${path}/attach`, { query, signal })
  connection.on('error', () => {}) // whoever reads is told
  signal?.addEventListener('abort', () => connection.destroy(), { once: true })
  return {
    output: tty ? follow(connection) : unframed(connection),
    write(input, taken) {
      if (tty) connection.write(input, (error) => error ?? taken())
      else taken()
    },
    async resize({ columns, rows }) {
      if (tty) await engine.request('POST', `${path}/resize`, { query: { w: columns, h: rows } })
    },
    async close() {
      connection.destroy()
    },
  }
}

/** What comes on a connection, until it ends or is hung up. */
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

/** Both streams as they come. */
async function* unframed(connection: Duplex): AsyncGenerator<Uint8Array> {
  const frames = new FrameSplitter()
  for await (const chunk of follow(connection)) {
    const pieces: Uint8Array[] = []
    frames.push(chunk, (_, bytes, from, end) => pieces.push(bytes.subarray(from, end).slice()))
    if (pieces.length > 0) yield Buffer.concat(pieces)
  }
}
