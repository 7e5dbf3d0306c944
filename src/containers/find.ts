import type { Db } from '../db/index.ts'
import type { Container, ContainerSummary, Docker } from '../docker/index.ts'
import { AppError } from '../platform/errors.ts'
import { labelFilter } from '../docker/labels.ts'
import type { User } from '../web/factory.ts'
import { whileAlive } from '../web/within.ts'
import { maySee, placeContainers } from './place.ts'
import type { Place } from './place.ts'

export type { OwnPlace, Place } from './place.ts'

export type FindDeps = { db: Db; docker: Docker; instanceId: string }
type Viewer = Pick<User, 'id' | 'role'>

export type Found = { container: Container; place: Place }
export type Listed = { container: ContainerSummary; place: Place }

/** The container with this full id, if the user may see it; missing for anyone else. */
export async function findContainer(
  deps: FindDeps,
  {
    id,
    user,
    signal,
    look = () => whileAlive(deps.docker, deps.docker.inspectContainer(id, { signal })),
  }: {
    id: string
    user: Viewer
    signal?: AbortSignal | undefined
    /** Another way to look at it than to ask the engine now. */
    look?: () => Promise<Container | null>
  },
): Promise<Found> {
  if (!isFullId(id)) throw noContainer()
  const container = await look()
  if (container?.id !== id) throw noContainer() // the engine accepts names and prefixes too
  const place = placeContainers(deps, [container])(container)
  if (!maySee(user, place)) throw noContainer()
  return { container, place }
}

/** Where a container belongs, for any user; null when it was removed. */
export async function findPlace(deps: FindDeps, id: string): Promise<Place | null> {
  const container = await deps.docker.inspectContainer(id)
  return container && placeContainers(deps, [container])(container)
}

/** Every container, running or not, that the user may see; newest first. */
export async function listVisible(
  deps: FindDeps,
  user: Viewer,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Listed[]> {
  const labels = user.role === 'admin' ? [] : labelFilter(deps.instanceId)
  const { docker } = deps
  const containers = await whileAlive(docker, docker.listContainers({ all: true, labels, signal }))
  const placeOf = placeContainers(deps, containers)
  return containers
    .map((container) => ({ container, place: placeOf(container) }))
    .filter(({ place }) => maySee(user, place))
}

/** The same message for missing, removed and foreign containers, so that they can't be distinguished. */
export const noContainer = () =>
  new AppError('not_found', 'This container doesn’t exist, or was removed.')

const isFullId = (id: string) => /^[0-9a-f]{64}$/.test(id)
