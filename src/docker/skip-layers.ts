import { blockSize } from './tar.ts'

/** Layers that another image has too, with the same ones below them; none that is needed higher up as well. */
export function commonLayers(layers: string[], others: string[][]) {
  const below = (other: string[]) => {
    const at = layers.findIndex((layer, index) => layer !== other[index])
    return at === -1 ? layers.length : at
  }
  const count = Math.max(0, ...others.map(below))
  const above = new Set(layers.slice(count))
  return layers.slice(0, count).filter((layer) => !above.has(layer))
}

/**
 * The archive of an image without these layers, which are in files of their names since Docker 25; earlier
 * archives stay as they are. What doesn’t look like a tar archive is passed on.
 */
export async function* withoutLayers(archive: AsyncIterable<Uint8Array>, layers: string[]) {
  const skipped = new Set(layers.map((layer) => `blobs/${layer.replace(':', '/')}`))
  let head = Buffer.alloc(0)
  let left = 0
  let isSkipped = false
  let isExtended = false
  for await (const chunk of archive)
    for (let at = 0; at < chunk.length;) {
      if (left > 0) {
        const part = chunk.subarray(at, at + left)
        at += part.length
        left -= part.length
        if (!isSkipped) yield part
        continue
      }
      const part = chunk.subarray(at, at + blockSize - head.length)
      at += part.length
      head = Buffer.concat([head, part])
      if (head.length < blockSize) continue
      const { name, size, type } = readHead(head)
      isSkipped = skipped.has(name) && !isExtended
      isExtended = type === 'x' // its size or name may be in there
      left = Math.ceil(size / blockSize) * blockSize
      if (!isSkipped) yield head
      head = Buffer.alloc(0)
    }
  if (head.length > 0) yield head
}

function readHead(head: Buffer) {
  const text = (from: number, to: number) => head.toString('latin1', from, to).split('\0', 1)[0]!
  const size = text(257, 262) === 'ustar' ? Number.parseInt(text(124, 136), 8) : Infinity
  return { name: text(0, 100), size: Number.isNaN(size) ? Infinity : size, type: text(156, 157) }
}
