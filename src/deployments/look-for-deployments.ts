import type { Db } from '../db/index.ts'
import { hasFailed, listSought } from '../db/restored.ts'
import type { Restored } from '../db/restored.ts'
import type { ContainerSummary, Docker, Engines } from '../docker/index.ts'
import { labelFilter, partLabel, readLabels } from '../docker/labels.ts'
import { onceNames, web } from '../environments/processes.ts'
import { listJobsOf } from '../jobs/store.ts'
import { mayBeOutOfReach } from '../runtime/pins.ts'
import { isWanted, isWatched, listInstances } from '../runtime/store.ts'
import type { Instance } from '../runtime/store.ts'
import { isUp } from '../runtime/workload.ts'
import { getCurrent, getJob, getLatest } from './store.ts'
import type { Job } from './store.ts'

type LookDeps = { db: Db; docker: Docker; engines: Engines; instanceId: string }

/** The state on the engine of an app that was deployed at the time of the backup. */
export type Outlook =
  /** All its containers exist. */
  | { kind: 'found'; containers: ContainerSummary[] }
  /** Another version has replaced it since. The containers of that one are first; oldest first. */
  | { kind: 'newer'; id: string; containers: ContainerSummary[] }
  /** It is incomplete, and must be deployed again, from its image if that exists. */
  | { kind: 'again'; fromImage: boolean }
  /** It is, or may be, on a server that can’t be reached: it is looked for once that is back. */
  | { kind: 'away' }
  /** One of its environment is queued or under way: it is looked for once that has ended. */
  | { kind: 'coming'; id: string }

export type ObservedDeployments = {
  row: Restored
  /** The job is of the latest deployment where none ran. Null when there is nothing to do. */
  found: { job: Job; outlook: Outlook } | null
}

/** Finds the containers and images of what was running at the time of the backup, and what runs since. */
export async function lookForDeployments({ db, docker, engines, instanceId }: LookDeps) {
  const rows = listSought(db, 'app')
  const labels = labelFilter(instanceId, { kind: 'app' })
  const { found: containers, reached } = await engines.reachable((docker) =>
    docker.listContainers({ labels, all: true }),
  )
  const images = new Set((await docker.listImages()).flatMap(({ id, tags }) => [id, ...tags]))
  const seen = rows.map((row) => ({ row, found: find(db, row, { containers, images, reached }) }))
  return { seen, images }
}

type There = { containers: ContainerSummary[]; images: Set<string>; reached: Set<string> }

function find(
  db: Db,
  { kind, objectId }: Restored,
  { containers, images, reached }: There,
): ObservedDeployments['found'] {
  const restored = getJob(db, objectId)
  const ran = restored !== undefined
  const job = restored ?? getJob(db, getLatest(db, objectId)?.id ?? '')
  if (!job || job.project.deletingAt || job.environment.deletingAt) return null
  const { deployment, environment } = job
  const outlook = (outlook: Outlook) => ({ job, outlook })
  const current = getCurrent(db, environment.id)
  if (ran ? current?.id !== deployment.id : current?.status === 'running') return null
  const coming = listJobsOf(db, environment.id).find((one) => one.kind === 'deploy')
  if (coming) return outlook({ kind: 'coming', id: coming.id })
  const instances = listInstances(db, environment.id)
  const live = instances.filter(({ releaseId }) => releaseId === current?.id)
  const leaves = ({ state }: Instance) =>
    state === 'draining' || (state === 'standby' && isWatched(db, environment.id))
  const leaving = idsOf(instances.filter(leaves))
  const ofEnvironment = containers.filter(
    ({ id, labels }) =>
      readLabels(labels).environmentId === environment.id &&
      !isOnce(labels[partLabel]) &&
      !leaving.has(id),
  )
  const isFound = ofEnvironment.length > 0
  if (mayBeOutOfReach(db, environment.id, { reached, isFound })) return outlook({ kind: 'away' })
  // the labels of those that it kept name an earlier deployment
  const held = idsOf(live)
  const own = ofEnvironment.filter(
    ({ id, labels }) => deploymentOf(labels) === current?.id || held.has(id),
  )
  const isLeft = ({ labels }: ContainerSummary) => {
    const its = getJob(db, deploymentOf(labels))?.deployment
    return its !== undefined && hasFailed(its) // its roll-out was interrupted
  }
  const others = ofEnvironment.filter((one) => isUp(one) && !own.includes(one) && !isLeft(one))
  // while it was away, what another version runs since was observed as stopped
  const replaced = new Set(kind === 'away' ? others.map(partOf) : [])
  const wanted = live
    .filter((one) => isWanted(one) || replaced.has(one.component))
    .map(({ containerId }) => containerId ?? '')
  const has = (all: ContainerSummary[]) => wanted.every((id) => all.some((one) => one.id === id))
  // those that were replaced are kept, but are stopped
  const isUpToNow = ran && own.some(isUp) && has(own.filter(isUp))
  const newer = isUpToNow ? null : newestOf(others)
  if (newer) {
    const its = ofEnvironment.filter(({ labels }) => deploymentOf(labels) === newer)
    const parts = new Set(its.map(partOf))
    const kept = ofEnvironment.filter((one) => isUp(one) && !parts.has(partOf(one)))
    const all = [...its.toReversed(), ...kept.toReversed()]
    return outlook({ kind: 'newer', id: newer, containers: all })
  }
  if (!ran) return null
  if (own.length > 0 && has(own)) return outlook({ kind: 'found', containers: own })
  const fromImage = deployment.image !== null && images.has(deployment.image)
  return outlook({ kind: 'again', fromImage })
}

const idsOf = (instances: Instance[]) => new Set(instances.map(({ containerId }) => containerId))

/** A rollback may have started what was kept of an earlier one. */
const newestOf = (containers: ContainerSummary[]) =>
  containers
    .map(({ labels }) => deploymentOf(labels))
    .filter(isId)
    .toSorted()
    .at(-1)

const partOf = ({ labels }: ContainerSummary) => labels[partLabel] ?? web

const isOnce = (part: string | undefined) => (onceNames as readonly unknown[]).includes(part)

const deploymentOf = (labels: Record<string, string>) => readLabels(labels).deploymentId

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
