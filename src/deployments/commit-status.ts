import { originOf } from '../config.ts'
import type { Config } from '../config.ts'
import type { Db, LogDb } from '../db/index.ts'
import { listEnvironments } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { AppError, Failure } from '../platform/errors.ts'
import type { CommitStatus } from '../git/providers/provider.ts'
import { ProviderError } from '../git/providers/provider-error.ts'
import { longestStatus } from '../git/providers/rest.ts'
import { providers } from '../git/providers/registry.ts'
import { accessTo } from '../git/source-access.ts'
import { findSource } from '../git/store.ts'
import { LogWriter } from '../logs/log-writer.ts'
import type { Logs } from '../logs/logs.ts'
import type { Handler } from '../notifications/outbox.ts'
import { requestsInWords } from '../notifications/evidence.ts'
import { SendFailure } from '../notifications/senders/sender.ts'
import { journal } from '../platform/journal.ts'
import type { Secrets } from '../platform/secrets.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { listSiblings } from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import { getJob, isEnded, logOf, updateDeployment } from './store.ts'
import type { Deployment, Job } from './store.ts'

type StatusDeps = { db: Db; logDb: LogDb; logs: Logs; secrets: Secrets; config: Config }

/**
 * Sends the statuses of commits to the provider of a project's source: what holds when it is sent, unless it was
 * sent before. A refusal doesn't affect the deployment, and its log says it once.
 */
export const statusHandler = (deps: StatusDeps): Handler => ({
  isKept: false,
  plan: () => ({ most: 1 }),
  async send({ first: { subjectId: id } }, signal) {
    const job = getJob(deps.db, id!)
    const status = job && commitStatusOf(deps, job)
    if (!status || status.state === job.deployment.commitStatus) return { answer: 'nothing new' }
    await send(deps, job, status, signal).catch((error) => {
      throw error instanceof AppError ? refusalOf(error) : error
    })
    const { state } = status
    return { answer: state, store: () => updateDeployment(deps.db, id!, { commitStatus: state }) }
  },
  failed(_, { first: { subjectId: id, tries } }, { reason, isLast }) {
    const job = getJob(deps.db, id!)
    const status = job && commitStatusOf(deps, job)
    if (!status) return undefined
    const { deployment } = job
    const isFirst = tries === 0 && deployment.commitStatus === null
    if (isLast) updateDeployment(deps.db, id!, { commitStatus: status.state }) // a retry would change nothing
    return () => {
      if (isFirst || isLast)
        journal.warn('a commit status was refused', { deployment: deployment.id, reason })
      if (isFirst) say(deps, deployment, reason)
    }
  },
})

function say(deps: StatusDeps, deployment: Deployment, reason: string) {
  if (isEnded(deployment.status)) return
  const log = new LogWriter(deps, logOf(deployment))
  log.write(`The provider didn’t accept the status of this commit. ${reason}`)
  log.flush()
}

/** What the provider may accept later is tried again. */
function refusalOf(error: AppError) {
  const isProviders = error instanceof ProviderError
  const { reason, status } = isProviders ? error : { reason: null, status: null }
  const retry =
    reason === 'limit' ||
    (reason === 'down' && (status === null || status >= 500)) ||
    (reason === 'host' && isUnresolved(error.cause)) // also while the DNS doesn't respond
  const { message, retryAfter } = error
  return new SendFailure('commit_status', message, '', { retry, retryAfter, cause: error })
}

const isUnresolved = (cause: unknown) =>
  cause instanceof Failure && cause.code === 'host_unresolved'

async function send(
  deps: StatusDeps,
  { project: { sourceId, ownerId, repository } }: Job,
  status: CommitStatus,
  signal: AbortSignal,
) {
  if (!sourceId || !repository) return
  const source = findSource(deps.db, { id: sourceId, ownerId })
  const access = accessTo(deps, { source, signal })
  await providers[source.provider].setCommitStatus(access, { repository, ...status })
}

/** Null when there is nothing to send, or no provider. */
function commitStatusOf(
  { db, config }: Pick<StatusDeps, 'db' | 'config'>,
  { project, environment, deployment }: Job,
): CommitStatus | null {
  const commit = deployment.commitHash ?? deployment.requestedCommit
  // The commit is already running, so its status stays.
  if (deployment.imageOf && !['rollback', 'promotion'].includes(deployment.trigger)) return null
  const isOfSource = project.sourceId && deployment.repositoryUrl === project.repositoryUrl
  const result = resultOf(deployment)
  const isBegun = deployment.steps.length > 0 || deployment.commitStatus !== null
  if (!isBegun || !commit || !isOfSource || !result) return null
  return {
    commit,
    state: result.state,
    context: contextOf(db, project, environment),
    description: shorten(result.description),
    url:
      (result.state === 'success' && deployment.url) ||
      `${originOf(config)}${deploymentPath(deployment)}`,
  }
}

/**
 * Projects of one repository report on the same commits, and a provider keeps one status for each name. The first
 * project that has an environment of the name has the short one.
 */
function contextOf(db: Db, project: Project, { name }: Environment) {
  const isTaken = listSiblings(db, project)
    .filter(({ id, sourceId }) => id < project.id && sourceId !== null)
    .some(({ id }) => listEnvironments(db, id).some((other) => other.name === name))
  return isTaken ? `davit/${project.name}/${name}` : `davit/${name}`
}

function resultOf({
  status,
  errorStep,
  errorMessage,
  url,
  containerId,
  watch,
}: Job['deployment']): Pick<CommitStatus, 'state' | 'description'> | null {
  switch (status) {
    case 'cloning':
    case 'building':
    case 'deploying':
      return { state: 'pending', description: 'Davit is deploying it' }
    case 'running':
      return { state: 'success', description: url ? `Running at ${url}` : 'Running' }
    case 'failed':
      return {
        state: 'failure',
        description: [errorStep, errorMessage, watch?.requests.map(requestsInWords)[0]]
          .filter(Boolean)
          .join(': '),
      }
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
