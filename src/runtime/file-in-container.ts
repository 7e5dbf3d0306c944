import type { Docker } from '../docker/index.ts'
import { isStatus } from '../docker/refusals.ts'

export type ContainerFile = { isDirectory: boolean; mode: number; head: Buffer }

/** In bytes. */
const mostRead = 64 * 1024

const mostLinks = 8

/** Follows links. Returns null when nothing exists at this absolute path. */
export async function fileAt(
  docker: Docker,
  id: string,
  path: string,
): Promise<ContainerFile | null> {
  let place = path
  for (let links = 0; links < mostLinks; links++) {
    const entry = firstEntry(await archiveOf(docker, id, place))
    if (!entry) return null
    if (entry.link === null) return entry
    place = new URL(entry.link, `file://${place}`).pathname
  }
  return null
}

/** The first bytes of the path's archive; empty when the path doesn't exist. */
async function archiveOf(docker: Docker, id: string, path: string) {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of docker.readArchive(id, { path })) {
      chunks.push(Buffer.from(chunk))
      if ((size += chunk.length) > mostRead) break
    }
  } catch (error) {
    if (!isStatus(error, 404)) throw error
    return Buffer.alloc(0)
  }
  return Buffer.concat(chunks)
}

const block = 512

/** Skips the records that only describe the following entry. */
function firstEntry(tar: Buffer): (ContainerFile & { link: string | null }) | null {
  for (let at = 0; at + block <= tar.length;) {
    const header = tar.subarray(at, at + block)
    const number = (from: number, to: number) =>
      parseInt(header.toString('latin1', from, to), 8) || 0
    const size = number(124, 136)
    const type = String.fromCharCode(header[156]!)
    if (type === 'x' || type === 'g') {
      at += block + Math.ceil(size / block) * block
      continue
    }
    const [link = ''] = header.toString('utf8', 157, 257).split('\0')
    return {
      isDirectory: type === '5',
      mode: number(100, 108),
      head: tar.subarray(at + block, at + block + size),
      link: type === '2' ? link : null,
    }
  }
  return null
}
