import { isToBePulled } from '../../projects/image-access.ts'
import { refusePrivate } from '../../registries/admit.ts'
import { authFor } from '../../registries/auth.ts'
import { registryOf } from '../../registries/image-registry.ts'
import type { ServiceRun } from '../run.ts'

/** Brings the images that are not here; one that the engine has already, and may give, is used as it is. */
export async function pullImages(run: ServiceRun) {
  const { docker, plans, progress, service, signal } = run
  const { ownerId } = service
  const wanted = new Map(plans.map(({ options }) => [options.image, options.platform]))
  for (const [image, platform] of wanted) {
    if (!(await isToBePulled(run, { ownerId, image, signal }))) continue
    await refusePrivate(run, { registry: registryOf(image), signal })
    const auth = authFor(run, { ownerId, image })
    progress.begin(image)
    const pull = docker.pullImage(image, {
      signal,
      ...(auth && { auth }),
      ...(platform && { platform }),
    })
    for await (const { layer, status, current, total } of pull)
      progress.layer(image, { id: layer, status, current, total })
    progress.end(image)
  }
}
