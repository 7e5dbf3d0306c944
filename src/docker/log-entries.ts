export type Stream = 'stdout' | 'stderr'

/** The frame's bytes are those from `from` up to `end`. They are only valid during the call. */
type TakeFrame = (stream: Stream, bytes: Buffer, from: number, end: number) => void

const headerLength = 8

/** Splits the engine's multiplexed output: 8 bytes with stream and length precede each chunk. */
export class FrameSplitter {
  #pending: Uint8Array = Buffer.alloc(0)

  push(chunk: Uint8Array, take: TakeFrame) {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let from = 0
    while (view.length - from >= headerLength) {
      const end = from + headerLength + view.readUInt32BE(from + 4)
      if (end > view.length) break
      take(view[from] === 2 ? 'stderr' : 'stdout', view, from + headerLength, end)
      from = end
    }
    this.#pending = view.subarray(from)
  }
}

/** Splits it without keeping or copying: a frame is passed on in the parts in which it arrives. */
export class FrameParts {
  readonly #header = Buffer.alloc(headerLength)
  #read = 0
  #left = 0

  push(chunk: Uint8Array, take: (stream: Stream, part: Uint8Array) => void) {
    for (let from = 0; from < chunk.length;) {
      const isHeader = this.#left === 0
      const part = chunk.subarray(from, from + (isHeader ? headerLength - this.#read : this.#left))
      from += part.length
      if (!isHeader) {
        this.#left -= part.length
        take(this.#header[0] === 2 ? 'stderr' : 'stdout', part)
        continue
      }
      this.#header.set(part, this.#read)
      this.#read = (this.#read + part.length) % headerLength
      if (this.#read === 0) this.#left = this.#header.readUInt32BE(4)
    }
  }
}

/** The engine stores a line as one entry, and a longer one in entries of 16 KiB. */
export type LogEntry = {
  stream: Stream
  /** UTC with nanoseconds, always nine digits: such texts sort by time. */
  timestamp: string
  /** Without the line break. */
  text: string
  /** False when the line continues in the stream's next entry. */
  ended: boolean
}

const lineFeed = 0x0a
const space = 0x20

/** Each frame is an entry: a timestamp, a space, the text. */
export class FrameReader {
  readonly #frames = new FrameSplitter()
  /** Kept for an incomplete entry, which may have been cut within a character. */
  readonly #decoders: Record<Stream, TextDecoder | null> = { stdout: null, stderr: null }

  read(chunk: Uint8Array): LogEntry[] {
    const entries: LogEntry[] = []
    this.#frames.push(chunk, (stream, bytes, from, end) => {
      const textFrom = bytes.indexOf(space, from) + 1
      const ended = bytes[end - 1] === lineFeed
      const timestamp = bytes.toString('latin1', from, textFrom - 1)
      const decoder = (this.#decoders[stream] ??= ended ? null : newDecoder())
      const text = decoder
        ? decoder.decode(bytes.subarray(textFrom, ended ? end - 1 : end), { stream: !ended })
        : bytes.toString('utf8', textFrom, end - 1)
      if (ended) this.#decoders[stream] = null
      entries.push({ stream, timestamp, text, ended })
    })
    return entries
  }

  end(): LogEntry[] {
    return []
  }
}

const newDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true })

/** Characters after which a terminal line is passed on before its end has arrived. */
const maxPiece = 1024 * 1024

/** A terminal has one stream without frames. Each piece of a longer line starts with a timestamp. */
export class TerminalReader {
  readonly #decoder = newDecoder()
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
