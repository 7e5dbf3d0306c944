import { originOf } from '../config.ts'
import type { Config } from '../config.ts'
import type { Deps } from '../deps.ts'
import { AppError, Failure } from '../errors.ts'
import type { CommitStatus } from '../git/providers/provider.ts'
import { providers } from '../git/providers/registry.ts'
import { accessTo } from '../git/source-access.ts'
import { findSource } from '../git/store.ts'
import { journal } from '../journal.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { getJob, isEnded } from './store.ts'
import type { Deployment, Job } from './store.ts'

/** Milliseconds for one status. */
const patience = 10_000

/** Of a description; GitHub takes no more. */
const maxLength = 140

/**
 * Tells the provider of a project's source how its commit fares: call it whenever the deployment has
 * moved. The statuses go out one after the other in the background, and what becomes of them changes
 * nothing about the deployment; the first one that the provider refuses is said in its log.
 */
export function commitStatuses(
  deps: Pick<Deps, 'db' | 'secrets' | 'config'>,
  { job, log }: { job: Job; log: (text: string) => void },
): () => void {
  let before = Promise.resolve()
  let isSaid = false
  let isOver = false
  return function tell() {
    const now = getJob(deps.db, job.deployment.id)
    isOver = !now || isEnded(now.deployment.status)
    const status = now && statusOf(now, deps.config)
    if (status) before = before.then(() => send(deps, now, status)).catch(say)
  }

  function say(error: unknown) {
    if (isSaid) return
    isSaid = true
    const reason = reasonOf(error)
    if (isOver)
      journal.warn('a commit status was not taken', { deployment: job.deployment.id, reason })
    else log(`The provider shows no status of this commit. ${reason}`)
  }
}

async function send(
  deps: Pick<Deps, 'db' | 'secrets' | 'config'>,
  { project: { sourceId, ownerId, repository } }: Job,
  status: CommitStatus,
) {
  if (!sourceId || !repository) return
  const source = findSource(deps.db, { id: sourceId, ownerId })
  const access = accessTo(deps, { source, signal: AbortSignal.timeout(patience) })
  await providers[source.provider].setCommitStatus(access, { repository, ...status })
}

function reasonOf(error: unknown) {
  if (error instanceof AppError || error instanceof Failure) return error.message
  if (error instanceof DOMException) return 'It did not answer in ten seconds.'
  journal.error('a commit status was not sent', error)
  return 'Something went wrong inside Davit.'
}

/** Null while there is nothing to tell, or no one to tell it to. */
function statusOf({ project, environment, deployment }: Job, config: Config): CommitStatus | null {
  const commit = deployment.commitHash ?? deployment.requestedCommit
  const isOfSource = project.sourceId && deployment.repositoryUrl === project.repositoryUrl
  const result = resultOf(deployment)
  if (!commit || !isOfSource || !result) return null
  return {
    commit,
    state: result.state,
    context: `davit/${environment.name}`,
    description: shorten(result.description),
    url:
      (result.state === 'success' && deployment.url) ||
      `${originOf(config)}${deploymentPath(deployment)}`,
  }
}

function resultOf({ status, errorStep, errorMessage, url }: Deployment) {
  switch (status) {
    case 'cloning':
    case 'building':
    case 'deploying':
      return { state: 'pending', description: 'Davit deploys it' } as const
    case 'running':
      return { state: 'success', description: url ? `Running at ${url}` : 'Running' } as const
    case 'failed': {
      const description = [errorStep, errorMessage].filter(Boolean).join(': ')
      return { state: 'failure', description } as const
    }
    case 'cancelled':
      return { state: 'failure', description: 'Cancelled' } as const
    default:
      return null
  }
}

const shorten = (text: string) =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1).trimEnd()}…` : text
