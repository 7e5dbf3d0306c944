import { Readable } from 'node:stream'
import type { Engine } from './engine.ts'
import type { ArchivedFile } from './tar.ts'
import { tarOf } from './tar.ts'

/**
 * Writes files into a container, whether it runs or not, below a directory that is there; those in
 * between are made. Refused where the container's root file system is read-only.
 */
export async function putArchive(
  engine: Engine,
  id: string,
  options: { path: string; files: ArchivedFile[]; signal?: AbortSignal | undefined },
): Promise<void> {
  const { path, files, signal } = options
  const query = { path, noOverwriteDirNonDir: true }
  const upload = Readable.from([tarOf(files)])
  const url = `/containers/${encodeURIComponent(id)}/archive`
  for await (const _ of engine.stream('PUT', url, { query, upload, signal })) continue
}
