import type { Deps } from '../deps.ts'
import { report } from '../journal.ts'
import { labelFilter } from '../projects/labels.ts'
import { removeProject } from '../projects/remove.ts'
import { listProjectsBeingDeleted } from '../projects/store.ts'
import { LogWriter } from './log-writer.ts'
import { observe } from './observe.ts'
import { activeStatuses, getCurrent, getJob, listInStatus, moveDeployment } from './store.ts'
import type { Deployment } from './store.ts'
import { supersedeOlder } from './supersede.ts'
import { waitForEngine } from './wait-for-engine.ts'

/** A deployment that was in work at two deaths of Davit may be what kills it. */
const maxAttempts = 2

type RecoverDeps = Omit<Deps, 'streams' | 'setupCode'>

/**
 * Takes up what the last process left in the middle: what served is started again, deployments go
 * back into the queue or end as failed with the reason, deletions go on. Waits for the engine.
 */
export async function recover(deps: RecoverDeps, { signal }: { signal: AbortSignal }) {
  const interrupted = listInStatus(deps.db, activeStatuses)
  const switching = interrupted.filter(({ status }) => status === 'deploying')
  for (const deployment of interrupted)
    if (!switching.includes(deployment)) takeUp(deps, deployment)

  if (!(await waitForEngine(deps.docker, { signal }))) return
  await removeOrphans(deps)
  for (const deployment of switching) {
    await startPrevious(deps, deployment)
    takeUp(deps, deployment)
    await observe(deps, deployment.environmentId)
  }
  for (const waiting of listInStatus(deps.db, ['pending'])) supersedeOlder(deps, waiting)
  deps.queue.wake()

  for (const project of listProjectsBeingDeleted(deps.db))
    await removeProject(deps, { project, volumes: project.deletingVolumes }).catch((error) =>
      report('project removal failed', error, { project: project.id }),
    )
}

/** Back into the queue, or to its end when it was cancelled or was in work once too often. */
function takeUp(deps: RecoverDeps, deployment: Deployment) {
  const { id, status, attempt, cancelRequested } = deployment
  const log = new LogWriter(deps, id)
  if (cancelRequested) {
    log.write('Cancelled.')
    return move('cancelled')
  }
  if (attempt < maxAttempts) {
    log.write(`Davit ended while ${status}. The deployment is taken up again.`)
    return move('pending')
  }
  const message = `Davit ended ${attempt} times while ${status}.`
  log.write(`Failed: ${message}`)
  move('failed', {
    errorStep: status,
    errorCode: 'interrupted',
    errorMessage: message,
    errorHint: 'Look at the memory of the server, then deploy again.',
  })

  function move(to: 'pending' | 'cancelled' | 'failed', changes: Partial<Deployment> = {}) {
    log.flush()
    const finishedAt = to === 'pending' ? null : new Date()
    moveDeployment(deps.db, { id, from: [status], ...changes, finishedAt, status: to })
    deps.logs.publish(id, { status: to })
  }
}

/** Containers of deployments that serve nothing, unless one is at work there by now. */
async function removeOrphans({ db, docker, queue, instanceId }: RecoverDeps) {
  const labels = [...labelFilter(instanceId), 'davit.kind=app']
  for (const container of await docker.listContainers({ labels, all: true })) {
    const job = getJob(db, container.labels['davit.deployment']!)
    if (!job || queue.isBusy(job.environment.id)) continue
    if (getCurrent(db, job.environment.id)?.containerId === container.id) continue
    await docker.removeContainer(container.id, { force: true })
  }
}

/** It may have been stopped to make room. */
async function startPrevious({ db, docker }: RecoverDeps, { id, environmentId }: Deployment) {
  const previous = getCurrent(db, environmentId)
  if (previous?.status !== 'running' || !previous.containerId) return
  await docker
    .startContainer(previous.containerId)
    .catch((error) => report('the previous container did not start', error, { deployment: id }))
}
