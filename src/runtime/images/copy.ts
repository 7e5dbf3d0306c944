import type { RuntimeDeps } from '../deps.ts'

/** Milliseconds between two lines of the log. */
const interval = 10_000

/**
 * Copies an app’s image to the server that is about to run it, unless it is there: from engine to engine, as fast
 * as that one reads. Its name says which one it is.
 */
export async function copyImage(
  { engines, serverList }: Pick<RuntimeDeps, 'engines' | 'serverList'>,
  {
    image,
    serverId,
    log = () => {},
    signal,
  }: {
    image: string
    serverId: string
    log?: ((text: string) => void) | undefined
    signal: AbortSignal
  },
) {
  const [own] = engines.all
  const there = engines.of({ serverId })
  if (serverId === own.serverId || (await there.hasImage(image, { signal }))) return
  const { name } = serverList.list().find(({ id }) => id === serverId)!
  log(`Copying the image to ${name}`)
  const begun = performance.now()
  let bytes = 0
  let told = begun
  async function* counted() {
    for await (const chunk of own.saveImage(image, { signal })) {
      bytes += chunk.length
      if (performance.now() - told > interval) {
        told = performance.now()
        log(`Copied ${inMb(bytes)} so far`)
      }
      yield chunk
    }
  }
  await there.loadImage(counted(), { signal })
  log(`Copied ${inMb(bytes)} in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
}

const inMb = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`
