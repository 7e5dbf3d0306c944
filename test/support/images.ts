import type { Docker } from '../../src/docker/index.ts'

/** A tar archive of text files, as the engine takes it for a build context. */
export function tarContext(files: Record<string, string>): ReadableStream<Uint8Array> {
  return new Blob(Object.entries(files).map(([name, text]) => tarEntry(name, text))).stream()
}

/** Builds an image from a Dockerfile and a few files, and returns its id. */
export async function buildTestImage(
  docker: Docker,
  options: { tag: string; dockerfile: string; files?: Record<string, string> },
): Promise<string> {
  const { tag, dockerfile, files = {} } = options
  const context = tarContext({ Dockerfile: dockerfile, ...files })
  const labels = { 'test.image': tag }
  const output = docker.buildImage({ context, dockerfile: 'Dockerfile', tag, labels })
  for await (const item of output) if (item.kind === 'image') return item.id
  throw new Error('The build ended without an image.')
}

const block = 512

function tarEntry(name: string, text: string): Uint8Array<ArrayBuffer> {
  const content = Buffer.from(text)
  const entry = Buffer.alloc(block + Math.ceil(content.length / block) * block)
  entry.write(name, 0)
  entry.write('0000644\0', 100)
  entry.write('0000000\0', 108)
  entry.write('0000000\0', 116)
  entry.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124)
  entry.write('00000000000\0', 136)
  // The checksum is taken with its own field full of spaces.
  entry.write('        0ustar\x0000', 148)
  const sum = entry.subarray(0, block).reduce((total, byte) => total + byte, 0)
  entry.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  content.copy(entry, block)
  return entry
}
