import type { Deps } from '../deps.ts'
import type { Image } from '../docker/index.ts'
import { isOfficial, registryOf } from '../registries/image-registry.ts'
import { hasLoginsOfOthers } from '../registries/store.ts'
import { labelFilter, readLabels } from './labels.ts'

type Asked = { ownerId: string; image: string; signal: AbortSignal }

/**
 * Whether a user has to bring an image from its registry, because the engine does not have it, or got it
 * by what is someone else's: a build, or perhaps a login. What the user's own containers are made of has
 * been given to them already.
 */
export async function isToBePulled(
  { db, docker, instanceId }: Pick<Deps, 'db' | 'docker' | 'instanceId'>,
  { ownerId, image, signal }: Asked,
): Promise<boolean> {
  const here = await docker.inspectImage(image, { signal })
  if (!here || !isNamed(here, image)) return true
  const of = readLabels(here.labels)
  const isBuilt = of.instanceId === instanceId && here.tags.every((tag) => tag.startsWith('davit/'))
  if (isBuilt) return of.ownerId !== ownerId
  const host = registryOf(image)
  if (isOfficial(image) || !hasLoginsOfOthers(db, { ownerId, host })) return false
  const labels = labelFilter(instanceId, { ownerId })
  const own = await docker.listContainers({ labels, all: true, signal })
  return !own.some(({ imageId }) => imageId === here.id)
}

/** The engine takes the beginning of an id for a name too: that may be anybody's image. */
const isNamed = ({ id, tags }: Image, name: string) =>
  !id.replace('sha256:', '').startsWith(name.replace('sha256:', '')) ||
  tags.some((tag) => tag === name || tag === `${name}:latest`)
