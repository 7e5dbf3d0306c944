import type { Db } from '../db/index.ts'
import { listRestored } from '../db/restored.ts'
import type { Restored } from '../db/restored.ts'
import type { ContainerSummary, Docker, Engines } from '../docker/index.ts'
import { labelFilter, partLabel, readLabels } from '../docker/labels.ts'
import { onceNames } from '../environments/processes.ts'
import { mayBeOutOfReach } from '../runtime/pins.ts'
import { isWanted, listInstances } from '../runtime/store.ts'
import type { Instance } from '../runtime/store.ts'
import { activeStatuses, getCurrent, getJob, listInStatus } from './store.ts'
import type { Job } from './store.ts'

type LookDeps = { db: Db; docker: Docker; engines: Engines; instanceId: string }

/** The state on the engine of a deployment that was running at the time of the backup. */
export type Outlook =
  /** All its containers exist. */
  | { kind: 'found'; containers: ContainerSummary[] }
  /** The containers belong to a later deployment, whose end the backup doesn't know; oldest first. */
  | { kind: 'newer'; containers: ContainerSummary[] }
  /** It is incomplete, and must be deployed again, from its image if that exists. */
  | { kind: 'again'; fromImage: boolean }
  /** It is, or may be, on a server that can’t be reached: it is looked for once that is back. */
  | { kind: 'away' }

export type ObservedDeployments = {
  row: Restored
  /** Null when there is nothing to do: it was deleted, or another deployment is queued or running. */
  found: { job: Job; outlook: Outlook } | null
}

/** Finds the containers and images of what was running at the time of the backup. */
export async function lookForDeployments({ db, docker, engines, instanceId }: LookDeps) {
  const rows = listRestored(db, 'deployment')
  const labels = labelFilter(instanceId, { kind: 'app' })
  const { found: containers, reached } = await engines.reachable((docker) =>
    docker.listContainers({ labels, all: true }),
  )
  const images = new Set((await docker.listImages()).flatMap(({ id, tags }) => [id, ...tags]))
  const seen = rows.map((row) => ({ row, found: find(db, row, { containers, images, reached }) }))
  return { seen, images }
}

function find(
  db: Db,
  { objectId }: Restored,
  {
    containers,
    images,
    reached,
  }: { containers: ContainerSummary[]; images: Set<string>; reached: Set<string> },
): ObservedDeployments['found'] {
  const job = getJob(db, objectId)
  if (!job || job.project.deletingAt || isComing(db, job)) return null
  const { deployment, environment } = job
  if (getCurrent(db, environment.id)?.id !== deployment.id) return null
  const ofEnvironment = containers.filter(
    ({ labels }) =>
      readLabels(labels).environmentId === environment.id && !isOnce(labels[partLabel]),
  )
  const of = (id: string) => ofEnvironment.filter(({ labels }) => deploymentOf(labels) === id)
  const instances = listInstances(db, environment.id).filter(
    ({ releaseId }) => releaseId === deployment.id,
  )
  const isFound = ofEnvironment.length > 0
  if (mayBeOutOfReach(db, environment.id, { reached, isFound }))
    return { job, outlook: { kind: 'away' } }
  // the labels of those that it kept name an earlier deployment
  const held = new Set(instances.map(({ containerId }) => containerId))
  const own = ofEnvironment.filter(
    ({ id, labels }) => deploymentOf(labels) === deployment.id || held.has(id),
  )
  const there = new Set(own.map(({ id }) => id))
  const isMissing = (instance: Instance) =>
    isWanted(instance) && !there.has(instance.containerId ?? '')
  if (own.length > 0 && !instances.some(isMissing))
    return { job, outlook: { kind: 'found', containers: own } }
  const newer = ofEnvironment.find(
    ({ state, labels }) =>
      state === 'running' && isId(deploymentOf(labels)) && isUnknown(db, deploymentOf(labels)),
  )
  if (newer) {
    const containers = of(deploymentOf(newer.labels)).toReversed()
    return { job, outlook: { kind: 'newer', containers } }
  }
  const fromImage = deployment.image !== null && images.has(deployment.image)
  return { job, outlook: { kind: 'again', fromImage } }
}

const isOnce = (part: string | undefined) => (onceNames as readonly unknown[]).includes(part)

const deploymentOf = (labels: Record<string, string>) => readLabels(labels).deploymentId

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

/** The backup was made before it, or while it was under way. */
function isUnknown(db: Db, id: string) {
  const job = getJob(db, id)
  return !job || job.deployment.errorCode === 'end_unknown'
}

const isComing = (db: Db, { environment }: Job) =>
  listInStatus(db, ['pending', ...activeStatuses]).some(
    ({ environmentId }) => environmentId === environment.id,
  )
