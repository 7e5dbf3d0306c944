import { setTimeout as sleep } from 'node:timers/promises'
import type { RegistryAuth } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import { adminsAuthFor } from '../../registries/auth.ts'
import { registryOf } from '../../registries/image-registry.ts'
import { pullThere } from './delivery.ts'
import type { Delivery, DeliveryDeps } from './delivery.ts'
import { imageLock } from './lock.ts'

/** Milliseconds between attempts, for a registry that is restarted. */
const usualPauses = [1000, 2000, 4000, 8000, 16_000]

/** What another attempt doesn’t change. */
const lasting = ['registry_unauthorized', 'no_space', 'engine_unreachable', 'engine_timeout']

/** Whether DAVIT_REGISTRY has it: what Davit built itself. */
export const isShared = ({ config }: Pick<DeliveryDeps, 'config'>, image: string) =>
  config.registry !== null && image.startsWith('davit/')

/** Pushed each time, which sends nothing that the registry has: it may have lost it since. */
export async function deliverBuilt(
  deps: DeliveryDeps,
  delivery: Delivery,
  { pauses = usualPauses }: { pauses?: number[] } = {},
) {
  const { image, server, log, signal } = delivery
  const [name, tag] = image.replace(/^davit/, deps.config.registry!).split(/:(?!.*[:/])/)
  const registry = registryOf(name!)
  for (let tries = 0; ; tries++)
    try {
      const auth = adminsAuthFor(deps, name!)
      log(`Bringing the image to ${server} through ${registry}`)
      const begun = performance.now()
      const digest = await push(deps, delivery, { ref: `${name}:${tag}`, as: name!, auth })
      await pullThere(deps, delivery, { source: `${name}@${digest}`, as: name!, auth })
      return log(`${server} has ${digest} after ${inSeconds(performance.now() - begun)}`)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof Failure)) throw error
      if (/^engine_/.test(error.code)) throw error
      const ms = pauses[tries]
      if (ms === undefined || lasting.includes(error.code))
        throw notDelivered(error, { server, registry })
      log(`${error.message} The next attempt is in ${inSeconds(ms)}.`)
      await sleep(ms, undefined, { signal })
    }
}

/** Only for that time has it a name of the registry here. */
const push = (
  { engines: { all } }: DeliveryDeps,
  { image, signal }: Delivery,
  { ref, ...options }: { ref: string; as: string; auth: RegistryAuth | undefined },
) =>
  imageLock.names.run(ref, signal, async () => {
    const [own] = all
    await own.tagImage(image, ref)
    try {
      return await own.pushImage(ref, { ...options, signal })
    } finally {
      await own.removeImage(ref)
    }
  })

const notDelivered = (cause: Failure, { server, registry }: { server: string; registry: string }) =>
  new Failure(
    'image_not_delivered',
    `The image couldn’t be brought to ${server} through ${registry}: ${cause.message}`,
    'Check that registry, which DAVIT_REGISTRY names, and the login for it of an admin under Settings, Registries. Then deploy again.',
    { cause },
  )

const inSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
