import { originOf } from '../config.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { AppError, Failure } from '../platform/errors.ts'
import type { CommitStatus } from '../git/providers/provider.ts'
import { longestStatus } from '../git/providers/rest.ts'
import { providers } from '../git/providers/registry.ts'
import { accessTo } from '../git/source-access.ts'
import { findSource } from '../git/store.ts'
import { journal } from '../platform/journal.ts'
import type { Secrets } from '../platform/secrets.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { getJob, isEnded, updateDeployment } from './store.ts'
import type { Deployment, Job } from './store.ts'

/** In milliseconds, for one status. */
const timeoutMs = 10_000

type TellDeps = { db: Db; secrets: Secrets; config: Config }

/**
 * Sends the commit status to the provider of a project's source. Call it whenever the deployment may have
 * changed, as duplicates are skipped. Statuses are sent one after the other in the background. Failures don't
 * affect the deployment; the first refusal is logged there.
 */
export function commitStatuses(
  deps: TellDeps,
  { job, log }: { job: Job; log: (text: string) => void },
): () => void {
  const { id } = job.deployment
  let before = Promise.resolve()
  let told: CommitStatus | null = null
  let isSaid = false
  let isOver = false
  return function tell() {
    const now = getJob(deps.db, id)
    isOver = !now || isEnded(now.deployment.status)
    const status = now && commitStatusOf(now, deps.config)
    if (!status || Bun.deepEquals(status, told)) return
    told = status
    before = before.then(() => reportOne(now, status)).catch(say)
  }

  async function reportOne(now: Job, status: CommitStatus) {
    // Stored first, so that the next process resends a status that a stop of Davit interrupts.
    updateDeployment(deps.db, id, { commitStatus: 'pending' })
    try {
      await send(deps, now, status, AbortSignal.timeout(timeoutMs))
    } finally {
      keepEnd(deps, id, status)
    }
  }

  function say(error: unknown) {
    if (isSaid) return
    isSaid = true
    if (isOver) warn(id, error)
    else log(`The provider didn’t accept the status of this commit. ${reasonOf(error)}`)
  }
}

/** Sends, at startup, the final statuses that the last process couldn't send, for all owners in parallel. */
export async function reportEnds(
  deps: TellDeps,
  { deployments, signal }: { deployments: Deployment[]; signal: AbortSignal },
) {
  const jobs = deployments.flatMap(({ id }) => getJob(deps.db, id) ?? [])
  const byOwner = Map.groupBy(jobs, ({ project }) => project.ownerId)
  await Promise.all(byOwner.values().map((jobs) => reportEndsOfOwner(deps, jobs, signal)))
}

async function reportEndsOfOwner(deps: TellDeps, jobs: Job[], signal: AbortSignal) {
  for (const job of jobs) {
    const { id, status: state, commitStatus } = job.deployment
    const status = commitStatusOf(job, deps.config)
    if (!isEnded(state) || commitStatus !== 'pending' || !status) continue
    const timeout = AbortSignal.timeout(timeoutMs)
    await send(deps, job, status, AbortSignal.any([signal, timeout])).catch((error) => {
      if (!signal.aborted) warn(id, error)
    })
    if (signal.aborted) return // the next process sends it
    keepEnd(deps, id, status)
  }
}

/** A refused status counts as sent, as a retry would change nothing. */
function keepEnd({ db }: TellDeps, id: string, { state }: CommitStatus) {
  if (state !== 'pending') updateDeployment(db, id, { commitStatus: state })
}

async function send(
  deps: TellDeps,
  { project: { sourceId, ownerId, repository } }: Job,
  status: CommitStatus,
  signal: AbortSignal,
) {
  if (!sourceId || !repository) return
  const source = findSource(deps.db, { id: sourceId, ownerId })
  const access = accessTo(deps, { source, signal })
  await providers[source.provider].setCommitStatus(access, { repository, ...status })
}

const warn = (id: string, error: unknown) =>
  journal.warn('a commit status was refused', { deployment: id, reason: reasonOf(error) })

function reasonOf(error: unknown) {
  if (error instanceof AppError || error instanceof Failure) return error.message
  if (error instanceof DOMException) return 'It didn’t respond within ten seconds.'
  journal.error('a commit status was not sent', error)
  return 'Something went wrong inside Davit.'
}

/** Null when there is nothing to send, or no provider. */
function commitStatusOf(
  { project, environment, deployment }: Job,
  config: Config,
): CommitStatus | null {
  const commit = deployment.commitHash ?? deployment.requestedCommit
  // The commit is already running, so its status stays.
  if (deployment.imageOf && !['rollback', 'promotion'].includes(deployment.trigger)) return null
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

function resultOf({
  status,
  errorStep,
  errorMessage,
  url,
  containerId,
}: Job['deployment']): Pick<CommitStatus, 'state' | 'description'> | null {
  switch (status) {
    case 'cloning':
    case 'building':
    case 'deploying':
      return { state: 'pending', description: 'Davit is deploying it' }
    case 'running':
      return { state: 'success', description: url ? `Running at ${url}` : 'Running' }
    case 'failed':
      return { state: 'failure', description: [errorStep, errorMessage].filter(Boolean).join(': ') }
    case 'cancelled':
      return { state: 'failure', description: 'Cancelled' }
    case 'stopped':
      return { state: 'success', description: 'Stopped' }
    case 'superseded':
      return containerId
        ? { state: 'success', description: 'Replaced by a newer deployment' }
        : { state: 'failure', description: 'Superseded by a newer deployment' }
    case 'waiting':
    case 'pending':
      return null
  }
}

const shorten = (text: string) =>
  text.length > longestStatus ? `${text.slice(0, longestStatus - 1).trimEnd()}…` : text
