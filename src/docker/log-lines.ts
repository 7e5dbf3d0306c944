import { FrameSplitter } from './frames.ts'
import type { Stream } from './frames.ts'
import { LineSplitter } from './lines.ts'

export type ContainerLine = {
  stream: Stream
  /** To the nanosecond, as `since` takes it; null when timestamps were not asked for. */
  timestamp: string | null
  text: string
}

type LogReader = {
  read(chunk: Uint8Array): ContainerLine[]
  /** What is left when nothing more will come. */
  end(): ContainerLine[]
}

const space = 0x20
const lineFeed = 0x0a

/** A line longer than a frame comes in several; each begins with the timestamp of the line. */
export class OutputReader implements LogReader {
  readonly #frames = new FrameSplitter()
  readonly #splitters = { stdout: new LineSplitter(), stderr: new LineSplitter() }
  readonly #last: Record<Stream, string | null> = { stdout: null, stderr: null }
  readonly #timestamps: boolean

  constructor(timestamps: boolean) {
    this.#timestamps = timestamps
  }

  read(chunk: Uint8Array): ContainerLine[] {
    const lines: ContainerLine[] = []
    this.#frames.push(chunk, (stream, bytes, frameFrom, end) => {
      let from = frameFrom
      let timestamp: string | null = null
      if (this.#timestamps) {
        from = bytes.indexOf(space, frameFrom) + 1
        timestamp = bytes.toString('latin1', frameFrom, from - 1)
      }
      this.#last[stream] = timestamp
      const splitter = this.#splitters[stream]
      const whole = splitter.atStart && bytes.indexOf(lineFeed, from) === end - 1
      const text = whole ? bytes.toString('utf8', from, end - 1) : null
      // Nearly every frame is one plain line; only the rest has to go the long way.
      if (text !== null && !text.includes('\r')) lines.push({ stream, timestamp, text })
      else
        for (const piece of splitter.push(bytes.subarray(from, end)))
          lines.push({ stream, timestamp, text: piece })
    })
    return lines
  }

  end(): ContainerLine[] {
    return (['stdout', 'stderr'] as const).flatMap((stream) =>
      [...this.#splitters[stream].end()].map((text) => ({
        stream,
        timestamp: this.#last[stream],
        text,
      })),
    )
  }
}

/** A terminal has one stream without frames; the timestamps stand in the text. */
export class TerminalReader implements LogReader {
  readonly #splitter = new LineSplitter()
  readonly #timestamps: boolean
  #timestamp: string | null = null

  constructor(timestamps: boolean) {
    this.#timestamps = timestamps
  }

  read(chunk: Uint8Array): ContainerLine[] {
    return [...this.#splitter.push(chunk)].map((line) => this.#toLine(line))
  }

  end(): ContainerLine[] {
    return [...this.#splitter.end()].map((line) => this.#toLine(line))
  }

  /** In a line of several pieces the timestamp stands before each of them. */
  #toLine(line: string): ContainerLine {
    if (!this.#timestamps) return { stream: 'stdout', timestamp: null, text: line }
    this.#timestamp = leadingTimestamp.exec(line)?.[1] ?? this.#timestamp
    const text = line.replaceAll(`${this.#timestamp} `, '')
    return { stream: 'stdout', timestamp: this.#timestamp, text }
  }
}

const leadingTimestamp = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) /
