import { endTroubles } from '../containers/troubles.ts'
import type { Db, Tx } from '../db/index.ts'
import type { Watch } from '../db/schema.ts'
import { getDeployment } from '../environments/store.ts'
import { emit } from '../notifications/emit.ts'
import { appName, deploymentFailed, deploymentSucceeded } from '../notifications/texts.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import type { Failure } from '../platform/errors.ts'
import { getPrevious } from './overview-store.ts'
import { getCurrent, getJob } from './store.ts'
import type { Job } from './store.ts'

/** Call them in the transaction that stores the end. */
export function noteSuccess(db: Db, id: string) {
  const job = getJob(db, id)!
  const { deployment } = job
  const before = getPrevious(db, deployment)
  const failedNumber = before?.status === 'failed' ? before.number : null
  const about = aboutOf(job)
  emit(db, {
    ...about,
    ...deploymentSucceeded({ ...saidOf(job), url: deployment.url, failedNumber }),
  })
  endTroubles(db, deployment.environmentId, about)
}

export function noteFailure(db: Db, id: string, { message, hint }: Failure) {
  const job = getJob(db, id)!
  const { deployment } = job
  const now = getCurrent(db, deployment.environmentId)
  const live = now ? { number: now.number, isBack: deployment.downtimeMs !== null } : null
  emit(db, { ...aboutOf(job), ...deploymentFailed({ ...saidOf(job), message, hint, live }) })
}

/** Of a version whose requests went back to the one before, with what told against it. */
export function noteReverted(tx: Tx, id: string, { verdict, before, ...evidence }: Watch) {
  const job = getJob(tx as Db, id)!
  const { message, hint } = verdict!
  const live = { number: getDeployment(tx as Db, before)!.number, isBack: true }
  emit(tx, {
    ...aboutOf(job),
    ...deploymentFailed({ ...saidOf(job), message, hint, live, evidence }),
  })
}

const aboutOf = ({ deployment, project, environment }: Job) => ({
  ownerId: project.ownerId,
  projectId: project.id,
  environmentId: environment.id,
  subject: appName(project, environment),
  href: deploymentPath(deployment),
})

const saidOf = ({ deployment, project, environment }: Job) => ({
  subject: appName(project, environment),
  number: deployment.number,
  commit: deployment.commitHash
    ? { hash: deployment.commitHash, message: deployment.commitMessage }
    : null,
})
