import { z } from 'zod'
import { findUser } from '../accounts/store.ts'
import type { Config } from '../config.ts'
import type { Db, LogDb } from '../db/index.ts'
import type { Docker } from '../docker/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Logs } from '../logs/logs.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { countReplicas } from '../environments/processes.ts'
import { branchOf, listEnvironments } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { isCommit } from '../git/ref-names.ts'
import { listLinks } from '../links/store.ts'
import { limits, refuseMore } from '../platform/limits.ts'
import { branchName, repositoryUrl } from '../projects/forms.ts'
import type { Project } from '../projects/store.ts'
import { refuseFullNetwork } from '../runtime/addresses.ts'
import { flag, line } from '../web/fields.ts'
import { getCurrent, hasUnended } from './store.ts'
import type { Deployment } from './store.ts'
import { tellSuperseded } from './tell.ts'
import { countOthersWaiting, insertWaiting, supersedeOlder } from './waiting-store.ts'
import type { Queued } from './waiting-store.ts'

/** The environment is by default the project's first. */
export const triggerForm = (config: Config) =>
  z
    .object({
      environmentId: line('the id of an environment', { max: 100 }).nullish(),
      repositoryUrl: repositoryUrl(config).nullish(),
      branch: branchName.nullish(),
      commit: line('a commit', { max: 64 })
        .refine(isCommit, 'must be the full hash of a commit, 40 or 64 hex digits.')
        .transform((hash) => hash.toLowerCase())
        .nullish(),
      reuseImage: flag().nullish(),
    })
    .superRefine(({ reuseImage, ...asked }, context) => {
      for (const field of ['repositoryUrl', 'branch', 'commit'] as const)
        if (reuseImage && asked[field])
          context.addIssue({
            code: 'custom',
            path: [field],
            message:
              'can’t be combined with reusing the image, which builds nothing. Leave one of them out.',
          })
    })

type Trigger = z.output<ReturnType<typeof triggerForm>> & {
  project: Project
  trigger: Deployment['trigger']
  /** E-mail of the user, or what else caused it. */
  triggeredBy: string
  /** The deployment to go back to. */
  rollbackTo?: Deployment
}

export type TriggerDeps = { db: Db; logDb: LogDb; logs: Logs; jobs: Jobs }

/** Puts a deployment into the queue and wakes it. */
export function triggerDeployment(deps: TriggerDeps, trigger: Trigger): Deployment {
  const queued = deps.db.transaction(() => enqueue(deps.db, trigger), { behavior: 'immediate' })
  tellSuperseded(deps, queued)
  deps.jobs.wake()
  return queued.deployment
}

/**
 * The one way a deployment begins, whether a person, a push or a rollback asked for it. Call it in a
 * transaction; when that is stored, tell what was superseded and wake the jobs.
 */
export function enqueue(
  db: Db,
  { project, trigger, triggeredBy, rollbackTo, ...asked }: Trigger,
): Queued {
  if (project.deletingAt)
    throw new AppError('conflict', `Project ${project.name} is being deleted. It is not deployed.`)
  if (findUser(db, project.ownerId).disabledAt)
    throw new AppError('conflict', 'The account of the project’s owner is disabled.')
  refuseElsewhere(project, asked.repositoryUrl)
  const environment = chooseEnvironment(
    listEnvironments(db, project.id),
    rollbackTo?.environmentId ?? asked.environmentId,
  )
  refuseMore('deployments', countOthersWaiting(db, { project, environment }))
  const source = asked.reuseImage ? findReusable(db, environment) : rollbackTo
  const deployment = insertWaiting(db, {
    ownerId: project.ownerId,
    projectId: project.id,
    environmentId: environment.id,
    trigger,
    triggeredBy,
    repositoryUrl: asked.repositoryUrl ?? project.repositoryUrl,
    branch: asked.branch ?? branchOf(environment, project),
    requestedCommit: asked.commit ?? null,
    ...(source && reused(source)),
  })
  return supersedeOlder(db, deployment)
}

/**
 * Refuses a deployment for which the project's network has no address, or that of a service linked to it;
 * those of an environment are taken over.
 */
export async function refuseWithoutRoom(
  deps: { db: Db; docker: Docker },
  { project, environmentId }: Pick<Trigger, 'project' | 'environmentId'>,
) {
  const environment = chooseEnvironment(listEnvironments(deps.db, project.id), environmentId)
  const workload = { id: environment.id, projectId: project.id }
  const wanted = countReplicas(environment)
  await refuseFullNetwork(deps, { workload, wanted })
  const joined = listLinks(deps.db, environment.id).map(({ service }) =>
    refuseFullNetwork(deps, { workload, wanted, joins: service.id }),
  )
  await Promise.all(joined)
}

/** What runs, to be deployed again as it is; refuses where there is nothing, or other work takes its place. */
function findReusable(db: Db, { id, name }: Environment) {
  const current = getCurrent(db, id)
  if (!current)
    throw new AppError('conflict', `Nothing was deployed to ${name} yet. Deploy it with a build.`)
  if (hasUnended(db, id))
    throw new AppError(
      'conflict',
      `A deployment to ${name} is under way. Wait until it has ended, then apply what it did not.`,
    )
  if (!current.image) throw imageGone(name)
  return current
}

const imageGone = (name: string) =>
  new AppError('conflict', `The image that runs in ${name} was removed. Deploy it with a build.`)

/** Refuses to reuse an image that the engine has no longer. */
export async function refuseWithoutImage(
  { db, docker }: { db: Db; docker: Docker },
  { project, environmentId }: Pick<Trigger, 'project' | 'environmentId'>,
) {
  const environment = chooseEnvironment(listEnvironments(db, project.id), environmentId)
  const { image } = findReusable(db, environment)
  if (!image || !(await docker.inspectImage(image))) throw imageGone(environment.name)
}

/** Whether one more deployment of an environment may wait; it takes the place of one that waits there. */
export const mayWait = (db: Db, of: { project: Project; environment: Environment }) =>
  countOthersWaiting(db, of) < limits.deployments

/** Only a project without a source may be deployed from a mirror: a source's token opens one place. */
function refuseElsewhere({ sourceId, repositoryUrl }: Project, asked: string | null | undefined) {
  if (!asked || sourceId === null || asked === repositoryUrl) return
  throw invalidField(
    'repositoryUrl',
    'is another repository than that of the project’s git source. Leave it out.',
  )
}

function chooseEnvironment(environments: Environment[], id: string | null | undefined) {
  const chosen = environments.find((environment) =>
    id ? environment.id === id : environment.deletingAt === null,
  )
  if (!chosen)
    throw invalidField('environment_id', 'names an environment that this project does not have.')
  if (chosen.deletingAt)
    throw new AppError(
      'conflict',
      `Environment ${chosen.name} is being deleted. Nothing is deployed there.`,
    )
  return chosen
}

/** What a deployment takes from the one whose image it runs. */
export const reused = (target: Deployment) => ({
  imageOf: target.id,
  image: target.image,
  repositoryUrl: target.repositoryUrl,
  branch: target.branch,
  requestedCommit: target.requestedCommit,
  commitHash: target.commitHash,
  commitAuthor: target.commitAuthor,
  commitMessage: target.commitMessage,
})
