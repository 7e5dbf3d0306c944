import type { z } from 'zod'
import { findUser } from '../accounts/store.ts'
import type { Db, LogDb } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import type { Share, Upload } from '../db/schema.ts'
import type { Docker } from '../docker/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Logs } from '../logs/logs.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { countReplicas } from '../environments/processes.ts'
import { getFreeze } from '../environments/freeze-store.ts'
import { defaultBranch, followedInWords, needsRef } from '../environments/followed.ts'
import { refuseShared } from '../environments/share.ts'
import { baseOf, listEnvironments } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { listLinks } from '../links/store.ts'
import { limits, refuseMore } from '../platform/limits.ts'
import { findProject } from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import { repositoryOf } from '../registries/image-registry.ts'
import { parseImage } from '../registries/tag-pattern.ts'
import { refuseFullNetwork } from '../runtime/addresses.ts'
import { approvedRef } from './approved-ref.ts'
import { Frozen } from './frozen.ts'
import { getCurrent, hasUnended } from './store.ts'
import type { Deployment } from './store.ts'
import type { triggerForm } from './trigger-forms.ts'
import {
  countOthersWaiting,
  insertWaiting,
  met,
  publishSuperseded,
  supersedeOlder,
} from './waiting-store.ts'
import type { Queued } from './waiting-store.ts'

type VersionRequest = Omit<
  Partial<z.output<ReturnType<typeof triggerForm>>>,
  'at' | 'zone' | 'strategy' | 'percent' | 'sticky'
>

type Trigger = VersionRequest & {
  project: Project
  trigger: Deployment['trigger']
  /** The e-mail address of a user, or another cause. */
  triggeredBy: string
  /** Of `branch`, where that is known. */
  refType?: Deployment['refType']
  /** Whose image it runs, in place of a build. */
  imageOf?: Deployment | undefined
  /** What its registry has now for the image. */
  digest?: string
  /** Files in place of a commit. */
  upload?: Upload | undefined
  /** The input of its job. */
  input?: string | null
  /** It starts when the checks of its commit have passed. */
  waitsForChecks?: boolean
  /** The time that was chosen for it. */
  plannedAt?: Date
  /** Someone asks for it: in a freeze it needs their note, as others wait for the end. */
  isAsked?: boolean
  /** The share of the requests that it gets first; by default all. */
  share?: Share | null
}

export type TriggerDeps = { db: Db; logDb: LogDb; logs: Logs; jobs: Jobs }

export function triggerDeployment(deps: TriggerDeps, trigger: Trigger): Deployment {
  const queued = asWriter(deps.db, () => enqueue(deps.db, { ...trigger, isAsked: true }))
  publishSuperseded(deps, queued)
  deps.jobs.wake()
  return queued.deployment
}

/** Throws what refuses a deployment. Call it in a transaction. */
export function checkTrigger(
  db: Db,
  { project, ...asked }: Pick<Trigger, 'project' | 'upload' | 'imageOf'> & TriggerRequest,
) {
  // it may have been read before something was waited for
  if (findProject(db, project).deletingAt)
    throw new AppError(
      'conflict',
      `Project ${project.name} is being deleted, so it can’t be deployed.`,
    )
  if (findUser(db, project.ownerId).disabledAt)
    throw new AppError('conflict', 'The account of the project’s owner is disabled.')
  refuseElsewhere(project, asked)
  const environment = chooseEnvironment(db, project, asked.environmentId)
  refuseMore('deployments', countOthersWaiting(db, { project, environment }))
  const source = asked.reuseImage ? findReusable(db, environment) : asked.imageOf
  const isOfRef = project.image === null && !source && !asked.upload
  if (!isOfRef) return { environment, source, ref: null }
  const approved = approvedRef(db, environment, asked)
  return { environment, source, ref: approved ?? refOf({ project, environment }, asked) }
}

type TriggerRequest = VersionRequest & Pick<Trigger, 'refType'>

/**
 * The only way to start a deployment, for a person, a push or a rollback. Call it in a transaction; after the
 * commit, publish superseded deployments and wake the jobs.
 */
export function enqueue(
  db: Db,
  { project, trigger, triggeredBy, imageOf, digest, upload, input, ...asked }: Trigger,
): Queued {
  const { environment, source, ref } = checkTrigger(db, { project, upload, imageOf, ...asked })
  const freeze = trigger === 'rollback' ? null : getFreeze(db, environment.id)
  const note = asked.isAsked ? (asked.note ?? null) : null
  if (freeze && asked.isAsked && note === null) throw new Frozen(environment, freeze)
  const deployment = insertWaiting(db, {
    ownerId: project.ownerId,
    projectId: project.id,
    environmentId: environment.id,
    trigger,
    triggeredBy,
    input,
    waitsForChecks: asked.waitsForChecks,
    plannedAt: asked.plannedAt,
    freeze: freeze && met(freeze, note),
    share: asked.share,
    repositoryUrl: upload ? '' : (asked.repositoryUrl ?? project.repositoryUrl),
    upload,
    requestedCommit: asked.commit ?? null,
    ...ref,
    ...(upload && { branch: asked.branch ?? null, refType: asked.branch ? 'branch' : null }),
    pullReference: project.image && (asked.image ?? project.image),
    pullDigest: digest ?? null,
    noCache: asked.noCache ?? false,
    ...(source && reused(source)),
  })
  return supersedeOlder(db, deployment)
}

/** Whether it is frozen. Throws then without a note, before what takes long is begun. */
export function refuseFrozen(
  db: Db,
  { project, environmentId, note }: Pick<Trigger, 'project' | 'environmentId' | 'note'>,
  mayPass = true,
) {
  const environment = chooseEnvironment(db, project, environmentId)
  const freeze = getFreeze(db, environment.id)
  if (freeze && !note) throw new Frozen(environment, freeze, mayPass)
  return freeze !== null
}

/** The environment whose branch or tag must still be chosen. */
export function withoutRef(
  db: Db,
  project: Project,
  asked: AskedRef & Pick<Trigger, 'environmentId' | 'reuseImage'>,
): Environment | null {
  if (project.image !== null || asked.branch || asked.tag || asked.commit || asked.reuseImage)
    return null
  const environment = chooseEnvironment(db, project, asked.environmentId)
  return needsRef({ project, environment }) ? environment : null
}

type AskedRef = Pick<Trigger, 'branch' | 'refType' | 'tag' | 'commit'>

/** The ref of a new deployment. A name that isn't said to be a tag's may be a branch's or a tag's. */
function refOf(
  of: { project: Project; environment: Environment },
  { branch, refType = null, tag, commit }: AskedRef,
): Pick<Deployment, 'branch' | 'refType'> {
  if (tag) return { branch: tag, refType: 'tag' }
  if (branch) return { branch, refType }
  if (!commit && needsRef(of))
    throw invalidField(
      'branch',
      `must be a branch, or send a tag: ${of.environment.name} follows ${followedInWords(of)}.`,
    )
  return { branch: defaultBranch(of), refType: null }
}

/**
 * Refuses a deployment when the network of the project or of a linked service has no free address. The
 * addresses of the environment's own containers are reused.
 */
export async function refuseWithoutRoom(
  deps: { db: Db; docker: Docker },
  { project, environmentId }: Pick<Trigger, 'project' | 'environmentId'>,
) {
  const environment = chooseEnvironment(deps.db, project, environmentId)
  const workload = { id: environment.id, projectId: project.id }
  const wanted = countReplicas(environment)
  await refuseFullNetwork(deps, { workload, wanted })
  const joined = listLinks(deps.db, environment.id).map(({ service }) =>
    refuseFullNetwork(deps, { workload, wanted, joins: service.id }),
  )
  await Promise.all(joined)
}

/** Finds the live deployment, to deploy it again. Throws when there is none, or it is being replaced. */
function findReusable(db: Db, environment: Environment) {
  const { id, name } = environment
  const current = getCurrent(db, id)
  if (!current)
    throw new AppError(
      'conflict',
      `Nothing has been deployed to ${name} yet. Deploy it with a build.`,
    )
  if (hasUnended(db, id))
    throw new AppError(
      'conflict',
      `A deployment to ${name} is running. Wait until it has ended, then apply the remaining changes.`,
    )
  refuseShared(db, environment)
  if (!current.image) throw imageGone(name)
  return current
}

const imageGone = (name: string) =>
  new AppError('conflict', `The live image of ${name} was removed. Deploy it with a build.`)

/** Throws when the engine no longer has the image. */
export async function refuseWithoutImage(
  { db, docker }: { db: Db; docker: Docker },
  { project, environmentId }: Pick<Trigger, 'project' | 'environmentId'>,
) {
  const environment = chooseEnvironment(db, project, environmentId)
  const { image } = findReusable(db, environment)
  if (!image || !(await docker.inspectImage(image))) throw imageGone(environment.name)
}

/** True when the environment may get another queued deployment, which replaces a queued one. */
export const mayWait = (db: Db, of: { project: Project; environment: Environment }) =>
  countOthersWaiting(db, of) < limits.deployments

/**
 * Refuses what isn't of the project's source. Only projects without a git source may use a mirror: a source's
 * token is only for its own host.
 */
function refuseElsewhere(
  { sourceId, repositoryUrl, image }: Project,
  asked: Partial<z.output<ReturnType<typeof triggerForm>>>,
) {
  for (const field of ['repositoryUrl', 'branch', 'tag', 'commit'] as const)
    if (image !== null && asked[field])
      throw invalidField(field, 'can’t be deployed: this project deploys an image.')
  if (asked.image && image === null)
    throw invalidField('image', 'can’t be deployed: this project builds from its repository.')
  if (asked.image && image !== null && !isSameRepository(asked.image, image))
    throw invalidField('image', `must be another tag or digest of ${image}.`)
  const { repositoryUrl: elsewhere } = asked
  if (!elsewhere || sourceId === null || elsewhere === repositoryUrl) return
  throw invalidField(
    'repositoryUrl',
    'differs from the repository of the project’s git source. Leave it out.',
  )
}

/** By default the first, but for previews. */
export function chooseEnvironment(db: Db, project: Project, id: string | null | undefined) {
  const chosen = id
    ? listEnvironments(db, project.id).find((environment) => environment.id === id)
    : baseOf(db, project)
  if (!chosen) throw invalidField('environment_id', 'must be an environment of this project.')
  if (chosen.deletingAt)
    throw new AppError(
      'conflict',
      `Environment ${chosen.name} is being deleted, so nothing can be deployed there.`,
    )
  return chosen
}

export const isSameRepository = (...references: [string, string]) => {
  const [one, other] = references.map((text) => repositoryOf(parseImage(text)!.reference))
  return one === other
}

/** The fields that a deployment copies from the one whose image it runs. */
export const reused = (target: Deployment) => ({
  imageOf: target.id,
  image: target.image,
  repositoryUrl: target.repositoryUrl,
  upload: target.upload,
  branch: target.branch,
  refType: target.refType,
  pullReference: target.pullReference,
  pullDigest: target.pullDigest,
  requestedCommit: target.requestedCommit,
  commitHash: target.commitHash,
  commitAuthor: target.commitAuthor,
  commitMessage: target.commitMessage,
  codeSettings: target.codeSettings,
})
