import { commonLayers, EngineError, withoutLayers } from '../../docker/index.ts'
import { labelFilter } from '../../docker/labels.ts'
import type { Delivery, DeliveryDeps } from './delivery.ts'

/** Milliseconds between two lines of the log. */
const interval = 10_000

/** Versions of an app that are looked at for layers, the newest first. */
const mostVersions = 5

/** From engine to engine, as fast as that one reads, without the layers of a version that is there. */
export async function copyImage(deps: DeliveryDeps, delivery: Delivery) {
  const { server, log, signal } = delivery
  log(`Copying the image to ${server}`)
  const layers = await layersThere(deps, delivery)
  if (layers.length === 0) return copy(deps, delivery, layers)
  try {
    await copy(deps, delivery, layers)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof EngineError)) throw error
    await copy(deps, delivery, []) // a layer was removed meanwhile
  }
}

async function copy(
  { engines }: DeliveryDeps,
  { image, serverId, log, signal }: Delivery,
  layers: string[],
) {
  const [own] = engines.all
  const begun = performance.now()
  let bytes = 0
  let told = begun
  async function* counted() {
    for await (const chunk of withoutLayers(own.saveImage(image, { signal }), layers)) {
      bytes += chunk.length
      if (performance.now() - told > interval) {
        told = performance.now()
        log(`Copied ${inMb(bytes)} so far`)
      }
      yield chunk
    }
  }
  await engines.of({ serverId }).loadImage(counted(), { signal })
  log(`Copied ${inMb(bytes)} in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
}

/** Docker’s own store takes an archive that lacks layers which it has; that of containerd doesn’t. */
async function layersThere(
  { engines, instanceId }: DeliveryDeps,
  { image, serverId, workload: { projectId }, signal }: Delivery,
) {
  const there = engines.of({ serverId })
  if (!projectId || (await there.info({ signal })).containerdStore) return []
  const labels = labelFilter(instanceId, { projectId })
  const versions = (await there.listImages({ labels, signal })).slice(0, mostVersions)
  const found = await Promise.all(versions.map(({ id }) => there.inspectImage(id, { signal })))
  const wanted = await engines.all[0].inspectImage(image, { signal })
  return commonLayers(
    wanted?.layers ?? [],
    found.flatMap((one) => (one ? [one.layers] : [])),
  )
}

const inMb = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`
