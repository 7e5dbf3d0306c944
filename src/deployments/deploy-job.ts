import type { Db, LogDb } from '../db/index.ts'
import type { GivenUp, Handler } from '../jobs/jobs.ts'
import { endJob, requeueJob } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import type { Logs } from '../logs/logs.ts'
import { runPipeline } from './pipeline.ts'
import type { PipelineDeps } from './pipeline.ts'
import { activeStatuses, getJob, moveDeployment } from './store.ts'
import type { Deployment } from './store.ts'
import { publishOutcome } from './publish-outcome.ts'
import { slotFor } from './waiting-store.ts'

/** Runs deployments as jobs with the same ids, and stores the ends that the pipeline can't store. */
export const deployHandler = (deps: PipelineDeps): Handler => ({
  run: (work) => runPipeline(deps, work),
  giveUp(job, end) {
    const deployment = getJob(deps.db, job.id)?.deployment
    if (deployment) giveUp(deps, { job, deployment, end })
  },
  requeue(job) {
    const deployment = getJob(deps.db, job.id)?.deployment
    if (deployment) requeue(deps, deployment)
    else endJob(deps.db, job.id)
  },
})

type StoreDeps = { db: Db; logDb: LogDb; logs: Logs }

/** Whatever it created is removed later as an orphan. */
function giveUp(
  deps: StoreDeps,
  { job, deployment, end }: { job: Job; deployment: Deployment; end: GivenUp },
) {
  const { id, status: from } = deployment
  const { line, ...outcome } = outcomeOf(job, { status: from, end })
  const made = from === 'pending' ? {} : { image: null }
  const moved = { id, from: ['pending', ...activeStatuses] as const, ...made, ...outcome }
  if (!moveDeployment(deps.db, { ...moved, finishedAt: new Date() })) return
  publishOutcome(deps, deployment, { status: outcome.status, line })
}

function outcomeOf(
  { attempt }: Job,
  { status, end: { why, by } }: { status: Deployment['status']; end: GivenUp },
) {
  if (why === 'broken') return broken
  if (why === 'cancelled') {
    const waited = `Cancelled${by ? ` by ${by}` : ''} while queued.`
    return { status: 'cancelled', line: status === 'pending' ? waited : 'Cancelled.' } as const
  }
  const message = `Davit crashed ${attempt} times while ${status}.`
  return {
    status: 'failed',
    line: `Failed: ${message}`,
    errorStep: status,
    errorCode: 'interrupted',
    errorMessage: message,
    errorHint: 'Check the memory of the server, then deploy again.',
  } as const
}

/** Its log is complete by then. */
const broken = {
  status: 'failed',
  line: null,
  errorCode: 'internal',
  errorMessage: 'Something went wrong inside Davit.',
  errorHint: 'Davit’s log has the details. Trying again can help.',
} as const

function requeue(deps: StoreDeps, deployment: Deployment) {
  const { id, status, image } = deployment
  deps.db.transaction(() => {
    requeueJob(deps.db, id, { slot: slotFor(image), isAttempt: true })
    moveDeployment(deps.db, { id, from: [status], status: 'pending' })
  })
  const line = `Davit stopped while ${status}. The deployment resumes.`
  publishOutcome(deps, deployment, { status: 'pending', line })
}
