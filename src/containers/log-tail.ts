import type { Docker } from '../docker/index.ts'
import { noContainer } from './find.ts'
import type { Line } from './log-line.ts'
import { isGone, readLog } from './log-read.ts'
import type { LogSource, LogWanted } from './log-read.ts'

/** Characters of lines that are kept at once. */
const usualSize = 4 * 1024 * 1024

/** The last lines, oldest first; fewer when they are very long. */
export async function readTail(
  { docker }: { docker: Docker },
  source: LogSource,
  {
    passes,
    maxSize = usualSize,
    ...wanted
  }: LogWanted & {
    tail: number
    passes?: ((line: Line) => boolean) | null
    maxSize?: number
    signal?: AbortSignal | undefined
  },
): Promise<Line[]> {
  const kept: Line[] = []
  let size = 0
  let from = 0
  try {
    for await (const lines of readLog(docker, source, wanted))
      for (const line of passes ? lines.filter(passes) : lines) {
        kept.push(line)
        size += line.text.length
        while (kept.length - from > wanted.tail || size > maxSize) size -= kept[from++]!.text.length
        if (from > 1000) from -= kept.splice(0, from).length
      }
  } catch (error) {
    throw isGone(error) ? noContainer() : error
  }
  return kept.slice(from)
}
