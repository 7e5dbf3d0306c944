import { LineSplitter } from './lines.ts'

/** The engine's streams of JSON objects, one a line. */
export async function* readJsonLines<T>(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<T> {
  const splitter = new LineSplitter(Infinity)
  for await (const chunk of bytes) {
    for (const line of splitter.push(chunk)) if (line.trim() !== '') yield JSON.parse(line)
  }
  for (const line of splitter.end()) yield JSON.parse(line)
}
