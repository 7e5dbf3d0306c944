import type { Db } from '../db/index.ts'
import type { Container, ContainerSummary, Engines } from '../docker/index.ts'
import { AppError } from '../platform/errors.ts'
import { labelFilter } from '../docker/labels.ts'
import type { ObservedContainers } from '../runtime/observed-containers.ts'
import type { User } from '../web/factory.ts'
import { whileAlive } from '../docker/while-alive.ts'
import { maySee, placeContainers } from './place.ts'
import type { ContainerOwner } from './place.ts'

export type { OwnPlace, ContainerOwner } from './place.ts'

export type FindDeps = { db: Db; engines: Engines; instanceId: string }
type Viewer = Pick<User, 'id' | 'role'>

export type FoundContainer = { container: Container; place: ContainerOwner }
export type Listed = { container: ContainerSummary; place: ContainerOwner }

/** Throws the same error for a missing container and for one that the user may not see. */
export async function findContainer(
  deps: FindDeps,
  {
    id,
    user,
    signal,
    look = () => whileAlive(deps.engines.all[0], deps.engines.find(id, { signal })),
  }: {
    id: string
    user: Viewer
    signal?: AbortSignal | undefined
    /** Replaces the default inspection by the engine. */
    look?: () => Promise<Container | null>
  },
): Promise<FoundContainer> {
  if (!isFullId(id)) throw noContainer()
  const container = await look()
  if (container?.id !== id) throw noContainer() // the engine also accepts names and prefixes
  const place = placeContainers(deps, [container])(container)
  if (!maySee(user, place)) throw noContainer()
  return { container, place }
}

/** Skips the permission check. Null when the container was removed. */
export async function findPlace(deps: FindDeps, id: string): Promise<ContainerOwner | null> {
  const container = await deps.engines.find(id)
  return container && placeContainers(deps, [container])(container)
}

/** Includes stopped containers. Newest first. */
export async function listVisible(
  deps: FindDeps & { observed: ObservedContainers },
  user: Viewer,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Listed[]> {
  const labels = user.role === 'admin' ? [] : labelFilter(deps.instanceId)
  const { found: containers } = await deps.engines.reachable((docker) =>
    whileAlive(docker, deps.observed.list(docker, { labels, signal })),
  )
  const placeOf = placeContainers(deps, containers)
  return containers
    .map((container) => ({ container, place: placeOf(container) }))
    .filter(({ place }) => maySee(user, place))
}

/** The same message for missing, removed and foreign containers, so that users can't tell them apart. */
export const noContainer = () =>
  new AppError('not_found', 'This container doesn’t exist, or was removed.')

const isFullId = (id: string) => /^[0-9a-f]{64}$/.test(id)
