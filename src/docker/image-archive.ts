import type { Readable } from 'node:stream'
import type { Abortable, Engine } from './engine.ts'
import { EngineError } from './failures.ts'
import { encodeReference } from './images.ts'
import { readJsonLines } from './lines.ts'

/** Yields a tar archive of the image with its name and all of its layers. */
export const saveImage = (engine: Engine, ref: string, { signal }: Abortable = {}) =>
  engine.stream('GET', `/images/${encodeReference(ref)}/get`, { signal })

/** Adds the images of such an archive under their names. Throws the engine's refusal. */
export async function loadImage(engine: Engine, archive: Readable, { signal }: Abortable = {}) {
  const call = { query: { quiet: true }, upload: archive, signal }
  const answer = engine.stream('POST', '/images/load', call)
  for await (const { error } of readJsonLines<{ error?: string }>(answer))
    if (error) throw new EngineError(500, error)
}
