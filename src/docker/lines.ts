import { withoutTrailing } from '../platform/without-trailing.ts'

/** The default length, in characters, at which a line is cut. */
export const usualLength = 16_384

/** A cut line may be shorter than the limit by so many characters: half of a pair, and removed timestamps. */
const missing = 100

/** True when a line may continue in the next one, because its length is the limit. */
export const isCut = (line: string) => line.length >= usualLength - missing

/**
 * Splits bytes that arrive in chunks into lines; an incomplete line is kept for the next chunk. A line over
 * the limit is cut, so that one without an end can't fill the memory.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder()
  #rest = ''

  constructor(readonly maxLength = usualLength) {}

  push(bytes: Uint8Array): string[] {
    return this.pushText(this.#decoder.decode(bytes, { stream: true }))
  }

  /** True when a complete line would be returned unchanged. */
  isPlain(line: string) {
    return this.#rest === '' && line.length <= this.maxLength && !line.includes('\r')
  }

  pushText(text: string): string[] {
    const lines = (this.#rest + text).split('\n')
    const unfinished = this.#cut(lines.pop()!)
    this.#rest = unfinished.pop()!
    return [...lines.flatMap((line) => this.#cut(withoutTrailing(line, '\r'))), ...unfinished]
  }

  /** Returns the incomplete last line. Call it at the end of the stream. */
  end(): string[] {
    const rest = withoutTrailing(this.#rest + this.#decoder.decode(), '\r')
    this.#rest = ''
    return rest === '' ? [] : this.#cut(rest)
  }

  #cut(line: string): string[] {
    return cutLine(lastDrawn(line), this.maxLength)
  }
}

/** Cuts a line into pieces of limited length, never within a surrogate pair. */
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

/** Returns what a terminal would show of a line that is redrawn, such as a progress bar. */
export function lastDrawn(line: string) {
  // a return at the very end may be half of a `\r\n` that arrives in two pieces
  const from = line.lastIndexOf('\r', line.length - 2)
  return from === -1 ? line : line.slice(from + 1)
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff

/** The engine streams JSON objects, one per line. */
export async function* readJsonLines<T>(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<T> {
  const splitter = new LineSplitter(Infinity)
  for await (const chunk of bytes) {
    for (const line of splitter.push(chunk)) if (line.trim() !== '') yield JSON.parse(line)
  }
  for (const line of splitter.end()) yield JSON.parse(line)
}
