import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../platform/errors.ts'
import { sleepUpTo } from '../platform/pause.ts'
import { bytes } from '../web/units.ts'

type Watched = {
  mirror: string
  /** The repository's name in messages. */
  where: string
  /** `size` is in bytes, `look` in milliseconds between two checks. */
  limits: { size: number; look: number }
  signal: AbortSignal
}

const code = 'repository_too_large'

export async function underSize<T>(
  { mirror, where, limits, signal }: Watched,
  fetch: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const watch = new AbortController()
  let looks = 0
  const look = async () => {
    looks++
    if ((await sizeOf(mirror)) > limits.size) throw tooLarge(where, limits.size)
  }
  const watching = (async () => {
    while (!watch.signal.aborted) {
      await sleepUpTo(limits.look, watch.signal)
      if (!watch.signal.aborted) await look().catch((error) => watch.abort(error))
    }
  })()
  try {
    const result = await fetch(AbortSignal.any([signal, watch.signal]))
    if (looks > 0) await look() // a fetch that ended before the first check was small
    return result
  } finally {
    watch.abort()
    await watching
  }
}

export const isTooLarge = (error: unknown) => error instanceof Failure && error.code === code

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const sizes = await Promise.all(
    entries.map((entry) => {
      const path = join(folder, entry.name)
      // Files that git renames or removes meanwhile are counted by the next check.
      return entry.isDirectory()
        ? sizeOf(path)
        : stat(path).then(
            ({ size }) => size,
            () => 0,
          )
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

const tooLarge = (where: string, max: number) =>
  new Failure(
    code,
    `The repository ${where} uses more than ${bytes(max)} on disk.`,
    'Store large files elsewhere. The operator can allow more with DAVIT_REPOSITORY_SIZE.',
  )
