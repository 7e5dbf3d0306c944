import { withoutTrailing } from '../platform/without-trailing.ts'

/** Characters after which a line is cut, where nobody says otherwise. */
const usualLength = 16_384

/** Characters that a line may lack where it was cut: half of one, and timestamps that were taken out. */
const missing = 100

/** Whether a line may go on in the next one: it was cut where it has so many characters. */
export const isCut = (line: string) => line.length >= usualLength - missing

/**
 * Cuts bytes that arrive in pieces into lines; what has no end yet is kept for the next piece.
 * A line past the limit is cut there, so that one without an end cannot fill the memory.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder()
  #rest = ''

  constructor(readonly maxLength = usualLength) {}

  push(bytes: Uint8Array): string[] {
    return this.pushText(this.#decoder.decode(bytes, { stream: true }))
  }

  /** Whether a whole line comes out as it is. */
  isPlain(line: string) {
    return this.#rest === '' && line.length <= this.maxLength && !line.includes('\r')
  }

  pushText(text: string): string[] {
    const lines = (this.#rest + text).split('\n')
    const unfinished = this.#cut(lines.pop()!)
    this.#rest = unfinished.pop()!
    return [...lines.flatMap((line) => this.#cut(withoutTrailing(line, '\r'))), ...unfinished]
  }

  /** What is left when nothing more will come. */
  end(): string[] {
    const rest = withoutTrailing(this.#rest + this.#decoder.decode(), '\r')
    this.#rest = ''
    return rest === '' ? [] : this.#cut(rest)
  }

  #cut(line: string): string[] {
    return cutLine(lastDrawn(line), this.maxLength)
  }
}

/** A line in pieces of so many characters at most; never cuts one of two code units in half. */
export function cutLine(line: string, maxLength = usualLength): string[] {
  const pieces: string[] = []
  let from = 0
  while (line.length - from > maxLength) {
    let to = from + maxLength
    if (isHighSurrogate(line.charCodeAt(to - 1))) to--
    pieces.push(line.slice(from, to))
    from = to
  }
  return [...pieces, line.slice(from)]
}

/** What a terminal would show of a line drawn over and over, as progress bars are. */
export function lastDrawn(line: string) {
  // A return at the very end may be half of a `\r\n` that arrives in two pieces.
  const from = line.lastIndexOf('\r', line.length - 2)
  return from === -1 ? line : line.slice(from + 1)
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff

/** The engine's streams of JSON objects, one a line. */
export async function* readJsonLines<T>(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<T> {
  const splitter = new LineSplitter(Infinity)
  for await (const chunk of bytes) {
    for (const line of splitter.push(chunk)) if (line.trim() !== '') yield JSON.parse(line)
  }
  for (const line of splitter.end()) yield JSON.parse(line)
}
