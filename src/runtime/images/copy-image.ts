import { commonLayers, EngineError, withoutLayers } from '../../docker/index.ts'
import type { Docker } from '../../docker/index.ts'
import { labelFilter } from '../../docker/labels.ts'
import { bytes as inBytes } from '../../web/units.ts'

type CopyDeps = { instanceId: string; log: (text: string) => void; signal: AbortSignal }

type Copy = {
  image: string
  from: Docker
  to: Docker
  /** Its other versions may be there; undefined without any. */
  projectId: string | undefined
}

/** Milliseconds between two lines of the log. */
const interval = 10_000

/** Versions of an app that are looked at for layers, the newest first. */
const mostVersions = 5

/** From engine to engine, as fast as that one reads, without the layers of a version that is there. */
export async function copyImage(deps: CopyDeps, one: Copy) {
  const layers = await layersThere(deps, one)
  if (layers.length === 0) return copy(deps, one, layers)
  try {
    await copy(deps, one, layers)
  } catch (error) {
    deps.signal.throwIfAborted()
    if (!(error instanceof EngineError)) throw error
    await copy(deps, one, []) // a layer was removed meanwhile
  }
}

async function copy({ log, signal }: CopyDeps, { image, from, to }: Copy, layers: string[]) {
  const begun = performance.now()
  let bytes = 0
  let told = begun
  async function* counted() {
    for await (const chunk of withoutLayers(from.saveImage(image, { signal }), layers)) {
      bytes += chunk.length
      if (performance.now() - told > interval) {
        told = performance.now()
        log(`Copied ${inBytes(bytes)} so far`)
      }
      yield chunk
    }
  }
  await to.loadImage(counted(), { signal })
  log(`Copied ${inBytes(bytes)} in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
}

/** Docker’s own store takes an archive that lacks layers which it has; that of containerd doesn’t. */
async function layersThere({ instanceId, signal }: CopyDeps, { image, from, to, projectId }: Copy) {
  if (!projectId || (await to.machine({ signal })).containerdStore) return []
  const labels = labelFilter(instanceId, { projectId })
  const versions = (await to.listImages({ labels, signal })).slice(0, mostVersions)
  const found = await Promise.all(versions.map(({ id }) => to.inspectImage(id, { signal })))
  const wanted = await from.inspectImage(image, { signal })
  return commonLayers(
    wanted?.layers ?? [],
    found.flatMap((one) => (one ? [one.layers] : [])),
  )
}
