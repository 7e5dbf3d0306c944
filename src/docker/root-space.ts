import type { DiskSpace } from '../platform/disk-space.ts'
import type { Engine } from './engine.ts'
import { EngineError } from './failures.ts'
import { listImages } from './images.ts'
import { processLabel, thisProcess } from './labels.ts'
import { runPiped } from './piped.ts'

/** Images of which one may have `df`: an image from scratch hasn’t. */
const tries = 5

/** Bytes of its answer, and milliseconds for it: the program is the image’s, and may be anyone’s. */
const maxAnswer = 4096
const longest = 10_000

type Options = {
  folder: string
  /** References of Davit’s own images, which are tried first. */
  images: string[]
  labels: Record<string, string>
  signal: AbortSignal
}

/**
 * The disk with Docker’s data, as `df` says in a container without network or rights, for the engine can’t be asked
 * for it. Null when neither Davit’s own nor the smallest images there have that program.
 */
export async function rootSpace(engine: Engine, options: Options): Promise<DiskSpace | null> {
  const images = await listImages(engine, { signal: options.signal })
  const isOther = (tags: string[]) => Number(!tags.some((tag) => options.images.includes(tag)))
  const sorted = images.toSorted((a, b) => isOther(a.tags) - isOther(b.tags) || a.size - b.size)
  for (const { id } of sorted.slice(0, tries)) {
    const space = spaceIn(await answerOf(engine, id, options), options.folder)
    if (space) return space
  }
  return null
}

async function answerOf(engine: Engine, image: string, { labels, signal }: Options) {
  let text = ''
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal, AbortSignal.timeout(longest)])
  try {
    await runPiped(engine, {
      ...{ image, signal: either, entrypoint: ['df'], command: ['-Pk', '/'] },
      labels: { ...labels, [processLabel]: thisProcess },
      ...{ name: `davit-df-${Bun.randomUUIDv7().slice(-12)}`, network: 'none', user: '65534' },
      ...{ memoryBytes: 32 * 2 ** 20, cpus: 1, pidsLimit: 16, readOnly: true, capabilities: [] },
      ...{ healthCheck: { disabled: true } },
      async stdout(from) {
        for await (const chunk of from)
          if (text.length + chunk.length > maxAnswer) stop.abort()
          else text += Buffer.from(chunk).toString('latin1')
      },
    })
  } catch (error) {
    const isOfImage = error instanceof EngineError || (either.aborted && !signal.aborted)
    if (!isOfImage) throw error // it hasn’t got it, or its one doesn’t end
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
