import { refusePrivate } from '../../registries/admit.ts'
import { registryOf } from '../../registries/image-registry.ts'
import type { Run } from '../run.ts'

/**
 * Brings the base images that are the owner's only by their login: a build takes what the engine has,
 * whoever it was brought for, and could not log in by itself. What anyone may have is left to the build.
 */
export async function pullBases(
  { docker, log, loginTo, isToBePulled, config, signal }: Run,
  images: string[],
) {
  for (const image of images) {
    if (!(await isToBePulled(image))) continue
    await refusePrivate({ config }, { registry: registryOf(image), signal })
    const auth = loginTo(image)
    if (!auth && !(await docker.inspectImage(image, { signal }))) continue
    log(`Pulling ${image}`)
    const pull = docker.pullImage(image, { signal, ...(auth && { auth }) })
    for await (const _ of pull) signal.throwIfAborted()
  }
}
