import { authFor } from '../../registries/auth.ts'
import type { ServiceRun } from '../run.ts'

/** Brings the images that are not here; one that the engine has already is used as it is. */
export async function pullImages(run: ServiceRun) {
  const { docker, plans, progress, service, signal } = run
  const wanted = new Map(plans.map(({ options }) => [options.image, options.platform]))
  for (const [image, platform] of wanted) {
    if (await docker.inspectImage(image, { signal })) continue
    const auth = authFor(run, { ownerId: service.ownerId, image })
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
