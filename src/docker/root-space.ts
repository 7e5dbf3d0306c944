import type { DiskSpace } from '../platform/disk-space.ts'
import type { Engine } from './engine.ts'
import { EngineError } from './failures.ts'
import { listImages } from './images.ts'
import { runPiped } from './piped.ts'

/** Images of which one may have `df`: an image from scratch hasn’t. */
const tries = 5

/** Bytes of its answer that are read: the program is the image’s. */
const maxAnswer = 4096

type Options = { folder: string; labels: Record<string, string>; signal: AbortSignal }

/**
 * The disk with Docker’s data, as `df` says in a container without network or rights, for the engine can’t be asked
 * for it. Null when none of the smallest images there has that program.
 */
export async function rootSpace(engine: Engine, options: Options): Promise<DiskSpace | null> {
  const images = await listImages(engine, { signal: options.signal })
  for (const { id } of images.toSorted((a, b) => a.size - b.size).slice(0, tries)) {
    const space = spaceIn(await answerOf(engine, id, options), options.folder)
    if (space) return space
  }
  return null
}

async function answerOf(engine: Engine, image: string, { labels, signal }: Options) {
  let text = ''
  try {
    await runPiped(engine, {
      ...{ image, labels, signal, entrypoint: ['df'], command: ['-Pk', '/'] },
      ...{ name: `davit-df-${Bun.randomUUIDv7().slice(-12)}`, network: 'none', user: '65534' },
      ...{ memoryBytes: 32 * 2 ** 20, cpus: 1, pidsLimit: 16, readOnly: true, capabilities: [] },
      ...{ healthCheck: { disabled: true } },
      async stdout(from) {
        for await (const chunk of from)
          if (text.length < maxAnswer) text += Buffer.from(chunk).toString('latin1')
      },
    })
  } catch (error) {
    if (!(error instanceof EngineError)) throw error // the image hasn’t got it
  }
  return text
}

/** The only line of `df -P` that has numbers. */
export function spaceIn(text: string, folder: string): DiskSpace | null {
  const [, size = NaN, used = NaN, free = NaN] = (
    /^\S+ +(\d{1,12}) +(\d{1,12}) +(\d{1,12}) +\d+% +\/$/m.exec(text) ?? []
  ).map((number) => Number(number) * 1024)
  if (!(size > 0)) return null
  const known = used + free // without blocks that are reserved for root
  return { folder, size: known, free, used: Math.round((used / Math.max(1, known)) * 100) }
}
