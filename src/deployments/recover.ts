import type { Deps } from '../deps.ts'
import { removeEnvironment } from '../environments/remove.ts'
import { listEnvironmentsBeingDeleted } from '../environments/store.ts'
import { labelFilter, readLabels } from '../projects/labels.ts'
import { removeProject } from '../projects/remove.ts'
import { listProjectsBeingDeleted } from '../projects/store.ts'
import { LogWriter } from './log-writer.ts'
import { observe } from './observe.ts'
import { activeStatuses, getCurrent, getJob, listInStatus, moveDeployment } from './store.ts'
import type { Deployment } from './store.ts'
import { supersedeOlder } from './supersede.ts'
import { withEngine } from '../docker/with-engine.ts'

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

  await removeOrphans(deps, { signal })
  for (const deployment of switching) {
    await startPrevious(deps, deployment, { signal })
    if (signal.aborted) return // the next process takes up what is left
    takeUp(deps, deployment)
    await observeAgain(deps, deployment, { signal })
  }
  if (signal.aborted) return
  for (const waiting of listInStatus(deps.db, ['pending'])) supersedeOlder(deps, waiting)
  deps.queue.wake()

  for (const environment of listEnvironmentsBeingDeleted(deps.db)) {
    const fields = { environment: environment.id }
    const options = { signal, failed: 'environment removal failed', fields }
    await withEngine(deps.docker, options, () => removeEnvironment(deps, environment))
  }
  for (const project of listProjectsBeingDeleted(deps.db)) {
    const options = { signal, failed: 'project removal failed', fields: { project: project.id } }
    await withEngine(deps.docker, options, () =>
      removeProject(deps, { project, volumes: project.deletingVolumes }),
    )
  }
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
async function removeOrphans(
  { db, docker, queue, instanceId }: RecoverDeps,
  { signal }: { signal: AbortSignal },
) {
  const labels = labelFilter(instanceId, { kind: 'app' })
  const listing = { signal, failed: 'the containers left over could not be listed' }
  const found = await withEngine(docker, listing, () =>
    docker.listContainers({ labels, all: true }),
  )
  for (const { id, labels } of found ?? []) {
    const removal = { signal, failed: 'a container left over stays', fields: { container: id } }
    await withEngine(docker, removal, async () => {
      const job = getJob(db, readLabels(labels).deploymentId)
      if (!job || queue.isBusy(job.environment.id)) return
      if (getCurrent(db, job.environment.id)?.containerId === id) return
      await docker.removeContainer(id, { force: true })
    })
  }
}

/** It may have been stopped to make room. */
async function startPrevious(
  { db, docker }: RecoverDeps,
  { id, environmentId }: Deployment,
  { signal }: { signal: AbortSignal },
) {
  const failed = 'the previous container did not start'
  await withEngine(docker, { signal, failed, fields: { deployment: id } }, async () => {
    const previous = getCurrent(db, environmentId)
    if (previous?.status === 'running' && previous.containerId)
      await docker.startContainer(previous.containerId)
  })
}

const observeAgain = (
  deps: RecoverDeps,
  { id, environmentId }: Deployment,
  { signal }: { signal: AbortSignal },
) =>
  withEngine(
    deps.docker,
    { signal, failed: 'the state of an app is not known', fields: { deployment: id } },
    () => observe(deps, environmentId),
  )
