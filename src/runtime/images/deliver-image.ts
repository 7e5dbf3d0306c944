import { authFor } from '../../registries/auth.ts'
import { refusePrivate } from '../../registries/admit.ts'
import { parseReference, registryOf, repositoryOf } from '../../registries/image-registry.ts'
import { deliverBuilt, isShared } from './built-images.ts'
import { copyImage } from './copy-image.ts'
import { pullThere } from './delivery.ts'
import type { Delivery, DeliveryDeps } from './delivery.ts'
import { imageLock } from './lock.ts'
import { getPulled } from './store.ts'

/**
 * Brings an image to another server that is about to run it, unless it is there: from the registry that it was
 * pulled from, or, if it was built, by that of DAVIT_REGISTRY. Else it is copied from Davit’s own server.
 */
export const deliverImage = (deps: DeliveryDeps, given: Omit<Delivery, 'server'>) =>
  imageLock.names.run(`${given.image} on ${given.serverId}`, given.signal, () =>
    deliverMissing(deps, given),
  )

async function deliverMissing(deps: DeliveryDeps, given: Omit<Delivery, 'server'>) {
  const { engines, serverList } = deps
  const { image, serverId, signal } = given
  if (await engines.of({ serverId }).hasImage(image, { signal })) return
  const server = serverList.list().find(({ id }) => id === serverId)!.name
  const delivery = { ...given, server }
  const pulled = getPulled(deps.db, image)
  if (pulled && (await pullAgain(deps, { delivery, pulled }))) return
  if (!pulled && isShared(deps, image)) return deliverBuilt(deps, delivery)
  given.log(`Copying the image to ${server}`)
  const [from] = engines.all
  const { projectId } = given.workload
  await copyImage({ ...deps, ...given }, { image, projectId, from, to: engines.of({ serverId }) })
}

type Again = { delivery: Delivery; pulled: NonNullable<ReturnType<typeof getPulled>> }

/** False when that server doesn’t get it: the login may have been removed since. */
async function pullAgain(deps: DeliveryDeps, { delivery, pulled }: Again) {
  const { server, workload, log, signal } = delivery
  const as = pulled.pullReference!
  const source = `${repositoryOf(parseReference(as)!)}@${pulled.pullDigest}`
  log(`Pulling ${as} on ${server}`)
  try {
    await refusePrivate(deps, { registry: registryOf(source), signal })
    const auth = authFor(deps, { ownerId: workload.ownerId, image: source })
    await pullThere(deps, delivery, { source, as, auth })
    return true
  } catch (error) {
    signal.throwIfAborted()
    log(`${server} couldn’t pull it: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}
