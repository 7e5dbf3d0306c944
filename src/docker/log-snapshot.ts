import type { Engine } from './engine.ts'

/** What the engine keeps as one: a line, or 16 KiB of a longer one. */
export type LogEntry = {
  stream: 'stdout' | 'stderr'
  /** To the nanosecond, in UTC, with nine digits: such texts sort by time. */
  timestamp: string
  /** Without the line break. */
  text: string
  /** False when the line goes on in the stream's next entry. */
  ended: boolean
}

export type LogSnapshotOptions = {
  /** Whether the container has a terminal: its output comes without frames. */
  tty: boolean
  /** Only so many entries from the end. */
  tail?: number | undefined
  /** From this time on: seconds and nanoseconds as `1795219200.000000000`. */
  since?: string | undefined
  signal?: AbortSignal | undefined
}

/**
 * What the engine has of a container's output at this moment, oldest first, as it comes in. Unlike
 * following, it misses nothing when the files rotate meanwhile: the engine opens them all at once.
 */
export async function* logSnapshot(
  engine: Engine,
  id: string,
  { tty, tail, since, signal }: LogSnapshotOptions,
): AsyncGenerator<LogEntry[]> {
  const query = { stdout: true, stderr: true, timestamps: true, tail, since }
  const path = `/containers/${encodeURIComponent(id)}/logs`
  const reader = tty ? new TerminalReader() : new FrameReader()
  for await (const chunk of engine.stream('GET', path, { query, signal })) {
    const entries = reader.read(chunk)
    if (entries.length > 0) yield entries
  }
  const rest = reader.end()
  if (rest.length > 0) yield rest
}

/**
 * Waits until the container writes (true) or the engine ends the stream (false). What was written is
 * not looked at: read a snapshot.
 */
export async function waitForOutput(
  engine: Engine,
  id: string,
  { signal }: { signal: AbortSignal },
): Promise<boolean> {
  const query = { stdout: true, stderr: true, follow: true, tail: 0 }
  const path = `/containers/${encodeURIComponent(id)}/logs`
  for await (const _ of engine.stream('GET', path, { query, signal })) return true
  return false
}

const headerLength = 8
const lineFeed = 0x0a
const space = 0x20

/** Takes the engine's frames apart: 8 bytes of stream and length, a timestamp, a space, the text. */
class FrameReader {
  #pending: Buffer = Buffer.alloc(0)

  read(chunk: Uint8Array): LogEntry[] {
    const bytes =
      this.#pending.length === 0 ? asBuffer(chunk) : Buffer.concat([this.#pending, chunk])
    const entries: LogEntry[] = []
    let from = 0
    while (bytes.length - from >= headerLength) {
      const end = from + headerLength + bytes.readUInt32BE(from + 4)
      if (end > bytes.length) break
      const textFrom = bytes.indexOf(space, from + headerLength) + 1
      const ended = bytes[end - 1] === lineFeed
      entries.push({
        stream: bytes[from] === 2 ? 'stderr' : 'stdout',
        timestamp: bytes.toString('latin1', from + headerLength, textFrom - 1),
        text: bytes.toString('utf8', textFrom, ended ? end - 1 : end),
        ended,
      })
      from = end
    }
    this.#pending = bytes.subarray(from)
    return entries
  }

  end(): LogEntry[] {
    return []
  }
}

/** Characters after which a line of a terminal is handed on before its end has come. */
const maxPiece = 1024 * 1024

/** A terminal has one stream; in a line of several pieces the timestamp stands before each of them. */
class TerminalReader {
  readonly #decoder = new TextDecoder()
  #rest = ''
  #timestamp = ''

  read(chunk: Uint8Array): LogEntry[] {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split('\n')
    this.#rest = lines.pop()!
    const entries = lines.map((line) => this.#entry(line, true))
    if (this.#rest.length > maxPiece) entries.push(...this.end())
    return entries
  }

  end(): LogEntry[] {
    if (this.#rest === '') return []
    const rest = this.#rest
    this.#rest = ''
    return [this.#entry(rest, false)]
  }

  #entry(line: string, ended: boolean): LogEntry {
    this.#timestamp = leadingTimestamp.exec(line)?.[1] ?? this.#timestamp
    const text = line.replaceAll(`${this.#timestamp} `, '')
    return { stream: 'stdout', timestamp: this.#timestamp, text, ended }
  }
}

const leadingTimestamp = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) /

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength)
