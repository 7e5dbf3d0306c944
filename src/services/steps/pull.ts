import type { Image } from '../../docker/index.ts'
import { readLabels } from '../../projects/labels.ts'
import { authFor } from '../../registries/auth.ts'
import type { ServiceRun } from '../run.ts'

/** Brings the images that are not here; one that the engine has already is used as it is. */
export async function pullImages(run: ServiceRun) {
  const { docker, plans, progress, service, signal } = run
  const wanted = new Map(plans.map(({ options }) => [options.image, options.platform]))
  for (const [image, platform] of wanted) {
    const here = await docker.inspectImage(image, { signal })
    if (here && isNamed(here, image) && !isBuiltForOther(here, run)) continue
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

/** The engine takes the beginning of an id for a name too: that may be anybody's image. */
const isNamed = ({ id, tags }: Image, name: string) =>
  !id.replace('sha256:', '').startsWith(name.replace('sha256:', '')) ||
  tags.some((tag) => tag === name || tag === `${name}:latest`)

/** What a project was built into has its code and what was built in: its owner’s alone. */
function isBuiltForOther({ labels, tags }: Image, { instanceId, service }: ServiceRun) {
  const of = readLabels(labels)
  const isOurs = of.instanceId === instanceId && tags.every((tag) => tag.startsWith('davit/'))
  return isOurs && of.ownerId !== service.ownerId
}
