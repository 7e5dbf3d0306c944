import { setTimeout as sleep } from 'node:timers/promises'
import { asWriter } from '../../db/queries.ts'
import type { Config } from '../../config.ts'
import type { Docker } from '../../docker/index.ts'
import { listEnvironments } from '../../environments/store.ts'
import type { Environment } from '../../environments/store.ts'
import { AppError, Failure } from '../../platform/errors.ts'
import type { Lookup } from '../../platform/hosts.ts'
import { whyNoMore } from '../../platform/limits.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { findProject } from '../../projects/store.ts'
import type { Project } from '../../projects/store.ts'
import { authFor } from '../../registries/auth.ts'
import { repositoryOf } from '../../registries/image-registry.ts'
import { RemoteRepository } from '../../registries/remote-repository.ts'
import { newestTag, parseImage, withTag } from '../../registries/tag-pattern.ts'
import { shortDigest } from '../../web/components.tsx'
import { getCurrent, isEnded } from '../store.ts'
import type { Deployment } from '../store.ts'
import { noMatchingTag } from '../steps/pull.ts'
import { enqueue, mayWait } from '../trigger.ts'
import type { TriggerDeps } from '../trigger.ts'
import { publishSuperseded } from '../waiting-store.ts'
import type { Queued } from '../waiting-store.ts'
import { listPulls } from './store.ts'

export type CheckDeps = TriggerDeps & {
  config: Config
  docker: Docker
  secrets: Secrets
  lookup?: Lookup
}

/** What its registry has for the image of a project. */
export type Version = { tag: string; digest: string }

export type Check = {
  project: Project
  /** The tag that a webhook names; otherwise that of the image, or the newest that its pattern matches. */
  tag?: string | undefined
  /** What the tag should name by now; the registry may still be at it. */
  expected?: string | null
  /** What was found by the last check, with the ETag of its list. */
  known?: { tag: string; etag: string } | undefined
  by: { trigger: Deployment['trigger']; triggeredBy: string }
  /** Called in the transaction that stores the deployments. */
  stored?: ((outcome: CheckOutcome) => void) | undefined
  onBusy?: ((until: number) => void) | undefined
  signal: AbortSignal
}

export type CheckOutcome = {
  found: Version
  etag: string | null
  deployments: Deployment[]
  /** A sentence for each environment. */
  reason: string
}

/** Asks the registry, with the login of the project's owner, and queues what is new where that is wanted. */
export async function checkImage(deps: CheckDeps, asked: Check): Promise<CheckOutcome> {
  const { db, jobs } = deps
  const { project, by, stored } = asked
  const image = project.image!
  const { found, etag } = await ask(deps, { ...asked, image })
  const outcome = asWriter(db, () => {
    const now = findProject(db, project)
    if (now.image !== image)
      throw new AppError('conflict', 'The image of the project was changed meanwhile.')
    const { queued, reasons } = decide(deps, { project: now, image, found, by })
    const deployments = queued.map(({ deployment }) => deployment)
    const outcome = { found, etag, deployments, reason: reasons.join(' ') }
    stored?.(outcome)
    return { ...outcome, queued }
  })
  for (const one of outcome.queued) publishSuperseded(deps, one)
  if (outcome.queued.length > 0) jobs.wake()
  return outcome
}

async function ask(
  deps: CheckDeps,
  { project, image, tag: named, expected, known, onBusy, signal }: Check & { image: string },
) {
  const { reference, pattern } = parseImage(image)!
  if (reference.digest !== null) throw new AppError('conflict', whyPinned)
  const auth = authFor(deps, { ownerId: project.ownerId, image })
  const remote = new RemoteRepository(deps, {
    ...{ reference, auth, onBusy, signal },
    ownerId: project.ownerId,
  })
  let tag: string | null = named ?? reference.tag!
  let etag: string | null = null
  if (named === undefined && pattern !== null) {
    const newest = await remote.newest(pattern, known?.etag)
    const isSame = newest === 'unchanged'
    tag = isSame ? known!.tag : newest.tag
    etag = isSame ? known!.etag : newest.etag
    if (tag === null) throw noMatchingTag(image)
  }
  const digest = await digestOf(remote, { tag, expected: expected ?? null, signal })
  return { found: { tag, digest }, etag }
}

/** Asks again where a registry reports a push a moment before its tag names it. Its word counts in the end. */
async function digestOf(
  remote: RemoteRepository,
  { tag, expected, signal }: { tag: string; expected: string | null; signal: AbortSignal },
) {
  for (let left = expected === null ? 0 : retries.times; ; left--) {
    const found = await remote.digest(tag).catch((error) => {
      if (left > 0 && error instanceof Failure && error.code === 'image_not_found') return null
      throw error
    })
    if (found !== null && (left <= 0 || found === expected)) return found
    await sleep(retries.ms, undefined, { signal })
  }
}

const retries = { times: 3, ms: 1000 }

export const whyPinned = 'The image of the project is named by its digest, which never changes.'

type Decision = { project: Project; image: string; found: Version; by: Check['by'] }

function decide({ db }: CheckDeps, { project, image, found, by }: Decision) {
  const queued: Queued[] = []
  const reasons: string[] = []
  for (const environment of listEnvironments(db, project.id)) {
    const { name } = environment
    const why = whyNot(db, { project, environment, image, found, by })
    if (why !== null) reasons.push(`${name}: ${why}`)
    else if (!mayWait(db, { project, environment }))
      reasons.push(`${name}: ${whyNoMore('deployments')}`)
    else {
      const { tag, digest } = found
      const trigger = { project, environmentId: environment.id, image: withTag(image, tag), digest }
      const one = enqueue(db, { ...trigger, ...by })
      const waits = one.deployment.freeze !== null
      reasons.push(
        `${name}: ${tag} ${waits ? 'waits for the end of a freeze' : 'is being deployed'}.`,
      )
      queued.push(one)
    }
  }
  return { queued, reasons }
}

/** Why an environment doesn't get what was found; null when it does. */
function whyNot(
  db: CheckDeps['db'],
  { project, environment, image, found, by }: Decision & { environment: Environment },
): string | null {
  if (environment.deletingAt) return 'It is being deleted.'
  if (environment.promoteFrom !== null) return 'It is promoted from another environment.'
  if (!(environment.autoDeploy ?? project.autoDeploy)) return 'Deploying new images is off.'
  const { reference, pattern } = parseImage(image)!
  const known = listPulls(db, environment.id).flatMap(({ pullReference, ...pull }) => {
    const own = parseImage(pullReference!)!
    const isIt = repositoryOf(own.reference) === repositoryOf(reference)
    return isIt ? [{ ...pull, ...own, tag: own.pattern === null ? own.reference.tag : null }] : []
  })
  if (known.length === 0 && by.trigger === 'image') return 'Nothing has been deployed yet.'
  const { tag, digest } = found
  const what = `${tag} is ${shortDigest(digest)}`
  const current = getCurrent(db, environment.id)
  if (current?.pullDigest === digest) return `Nothing to do: ${what}, which is live.`
  const names = (pull: (typeof known)[number]) =>
    pattern === null || pull.pattern === null ? pull.tag === tag : pull.pattern === pattern
  if (known.some((pull) => !isEnded(pull.status) && pull.pullDigest === null && names(pull)))
    return 'Nothing to do: a deployment that pulls it is waiting.'
  const last = known.find((pull) => pull.tag === tag && pull.pullDigest !== null)
  if (last?.pullDigest === digest)
    return `Nothing to do: ${what}, which was deployed before. Deploy it by hand to try again.`
  if (pattern === null) return null
  const tags = known.flatMap((pull) => (pull.pullDigest && pull.tag) || [])
  const newest = newestTag([...tags, tag], pattern)
  return newest === tag ? null : `${tag} is older than ${newest}. Deploy it by hand to go back.`
}

/** Why a check failed, in words for the user; null for a bug. */
export function whyFailed(error: unknown) {
  if (error instanceof Failure) return `${error.message} ${error.hint}`
  return error instanceof AppError ? error.message : null
}
