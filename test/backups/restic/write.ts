import type { Writable } from 'node:stream'

export const write = (bytes: Uint8Array | string) => (to: Writable) =>
  new Promise<void>((done, failed) => to.write(bytes, (error) => (error ? failed(error) : done())))

/** Reads all of a file of a snapshot. */
export async function collect(from: AsyncIterable<Uint8Array>) {
  const chunks: Uint8Array[] = []
  for await (const chunk of from) chunks.push(chunk)
  return Buffer.concat(chunks)
}
