import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import { Failure } from '../errors.ts'
import { journal } from '../journal.ts'
import { labelFilter } from '../projects/labels.ts'
import { removeProject } from '../projects/remove.ts'
import { listProjectsBeingDeleted } from '../projects/store.ts'
import { LogWriter } from './log-writer.ts'
import { activeStatuses, getCurrent, listInStatus, moveDeployment } from './store.ts'
import type { Deployment } from './store.ts'

/** A deployment that was in work at two deaths of Davit may be what kills it. */
const maxAttempts = 2

/** Milliseconds between looks at an engine that does not answer. */
const retryDelay = 2000

type RecoverDeps = Omit<Deps, 'secrets' | 'streams' | 'setupCode'>

/**
 * Takes up what the last process left in the middle: deployments are started again or end as failed
 * with the reason, deletions go on. Waits for the engine where it must ask it.
 */
export async function recover(deps: RecoverDeps, { signal }: { signal: AbortSignal }) {
  const interrupted = listInStatus(deps.db, activeStatuses)
  for (const deployment of interrupted.filter(({ status }) => status !== 'deploying'))
    takeUp(deps, deployment)
  deps.queue.wake()
  const switching = interrupted.filter(({ status }) => status === 'deploying')
  const deletions = listProjectsBeingDeleted(deps.db)
  if (switching.length + deletions.length === 0) return
  if (!(await engineAnswers(deps, signal))) return
  for (const deployment of switching) await takeUpSwitch(deps, deployment)
  deps.queue.wake()
  for (const project of deletions)
    await removeProject(deps, { project, volumes: project.deletingVolumes }).catch((error) =>
      journal.error('project removal failed', error, { id: project.id }),
    )
}

/** Back into the queue, or to its end when it was cancelled or was in work once too often. */
function takeUp(deps: RecoverDeps, deployment: Deployment) {
  const { id, status, attempt, cancelRequested } = deployment
  const log = new LogWriter(deps, { deploymentId: id, mask: (text) => text })
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
  return move('failed', {
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
    return to
  }
}

/** The container that was on its way goes; when the deployment is not tried again, the previous one serves. */
async function takeUpSwitch(deps: RecoverDeps, deployment: Deployment) {
  const { db, docker, instanceId } = deps
  const labels = labelFilter(instanceId, { deploymentId: deployment.id })
  for (const { id } of await docker.listContainers({ labels, all: true }))
    await docker.removeContainer(id, { force: true })
  if (takeUp(deps, deployment) === 'pending') return
  const previous = getCurrent(db, deployment.environmentId)
  if (previous?.status === 'running' && previous.containerId)
    await docker
      .startContainer(previous.containerId)
      .catch((error) =>
        journal.error('the previous container did not start', error, { deployment: previous.id }),
      )
}

async function engineAnswers({ docker }: RecoverDeps, signal: AbortSignal) {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      await docker.info({ signal })
      return true
    } catch (error) {
      if (tries === 0 && error instanceof Failure) journal.warn(error.message, { hint: error.hint })
      await sleep(retryDelay, undefined, { signal }).catch(() => {})
    }
  }
  return false
}
