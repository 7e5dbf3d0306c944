import { publishedOnce } from '../docker/index.ts'
import { shownImage } from '../runtime/images/private-names.ts'
import type { Page } from '../web/paging.ts'
import type { ContainerView } from './container-view.ts'
import { stopReasonOf } from './row.ts'
import type { Row } from './row.ts'

/** An entry of `GET /containers/api`. */
export const containerJson = ({ container, place, condition, looping }: Row) => {
  const own = place.kind === 'own' ? place : null
  return {
    id: container.id,
    name: container.name,
    image: shownImage(container.image),
    state: container.state,
    status: container.status,
    health: container.health,
    createdAt: container.createdAt,
    ports: publishedOnce(container.ports),
    project: own?.project?.id ?? null,
    environment: own?.environment?.id ?? null,
    process: own?.process?.name ?? null,
    replica: own?.process?.replica ?? null,
    deployment: own?.deployment?.id ?? null,
    service: own?.service?.id ?? null,
    own: own !== null,
    restartCount: condition?.restartCount ?? null,
    exitCode: container.exitCode,
    oomKilled: condition?.oomKilled ?? null,
    crashLooping: looping,
  }
}

/** Newest first. The cursor is a position in that order, so it stays valid when its container is removed. */
export function containersPage(rows: Row[], { cursor, limit }: Page) {
  const sorted = rows.toSorted((a, b) => (placeInOrder(a) < placeInOrder(b) ? 1 : -1))
  const rest = cursor ? sorted.filter((row) => placeInOrder(row) < cursor) : sorted
  const kept = rest.slice(0, limit)
  const nextCursor = rest.length > limit ? placeInOrder(kept.at(-1)!) : null
  return { items: kept.map(containerJson), nextCursor }
}

/** The form of a cursor: time of creation and id. */
export const placeForm = /^\d{4}-\d\d-\d\dT[\d:.]+Z-[0-9a-f]{64}$/

const placeInOrder = ({ container }: Row) => `${container.createdAt.toISOString()}-${container.id}`

export const containerDetailsJson = (view: ContainerView) => ({
  ...containerJson(view),
  imageId: view.container.imageId,
  error: view.container.error,
  startedAt: view.container.startedAt,
  finishedAt: view.container.finishedAt,
  command: view.texts?.command ?? null,
  user: view.container.user,
  workingDir: view.container.workingDir,
  variables: view.environment.map(({ key, value }) => ({ key, value })),
  mounts: view.container.mounts,
  networks: view.container.networks,
  exposedPorts: view.container.exposedPorts,
  limits: {
    memoryBytes: view.container.memoryLimit,
    cpus: view.container.cpus,
    pids: view.container.pidsLimit,
  },
  restartPolicy: view.container.restartPolicy.name,
  privileged: view.container.privileged,
  tty: view.container.tty,
  logDriver: view.container.logDriver,
  labels: view.texts?.labels ?? null,
  stopReason: stopReasonOf(view)?.message ?? null,
})
