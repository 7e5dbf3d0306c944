import type { Db } from '../db/index.ts'
import { listRestored } from '../db/restored.ts'
import type { Restored } from '../db/restored.ts'
import type { ContainerSummary, Docker } from '../docker/index.ts'
import { labelFilter, readLabels } from '../docker/labels.ts'
import { activeStatuses, getCurrent, getJob, listInStatus } from './store.ts'
import type { Job } from './store.ts'

type LookDeps = { db: Db; docker: Docker; instanceId: string }

/** What the engine has of a deployment that ran when the backup was made. */
export type Outlook =
  /** Its container. */
  | { kind: 'found'; container: ContainerSummary }
  /** That of a later deployment, of which the backup knows nothing. */
  | { kind: 'newer'; container: ContainerSummary }
  /** Nothing: it is to be deployed again, from its image where that is there. */
  | { kind: 'again'; fromImage: boolean }

export type Seen = {
  row: Restored
  /** Null when it needs nothing any more: it was deleted, or another deployment is on its way there. */
  found: { job: Job; outlook: Outlook } | null
}

/** Looks for what ran when the backup was made; and tells which images the engine has. */
export async function lookForDeployments({ db, docker, instanceId }: LookDeps) {
  const rows = listRestored(db, 'deployment')
  const containers = await docker.listContainers({
    labels: labelFilter(instanceId, { kind: 'app' }),
    all: true,
  })
  const images = new Set((await docker.listImages()).flatMap(({ id, tags }) => [id, ...tags]))
  const seen = rows.map((row) => ({ row, found: find(db, row, { containers, images }) }))
  return { seen, images }
}

function find(
  db: Db,
  { objectId }: Restored,
  { containers, images }: { containers: ContainerSummary[]; images: Set<string> },
): Seen['found'] {
  const job = getJob(db, objectId)
  if (!job || job.project.deletingAt || isComing(db, job)) return null
  const { deployment, environment } = job
  if (getCurrent(db, environment.id)?.id !== deployment.id) return null
  const ofEnvironment = containers.filter(
    ({ labels }) => readLabels(labels).environmentId === environment.id,
  )
  const own = ofEnvironment.find(({ labels }) => deploymentOf(labels) === deployment.id)
  if (own) return { job, outlook: { kind: 'found', container: own } }
  const newer = ofEnvironment.find(
    ({ state, labels }) =>
      state === 'running' && isId(deploymentOf(labels)) && !getJob(db, deploymentOf(labels)),
  )
  if (newer) return { job, outlook: { kind: 'newer', container: newer } }
  const fromImage = deployment.image !== null && images.has(deployment.image)
  return { job, outlook: { kind: 'again', fromImage } }
}

const deploymentOf = (labels: Record<string, string>) => readLabels(labels).deploymentId

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

const isComing = (db: Db, { environment }: Job) =>
  listInStatus(db, ['pending', ...activeStatuses]).some(
    ({ environmentId }) => environmentId === environment.id,
  )
