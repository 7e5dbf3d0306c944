import type { Db } from '../db/index.ts'
import { enqueue, mayWait } from '../deployments/trigger.ts'
import { getLatest } from '../deployments/store.ts'
import type { Queued } from '../deployments/waiting-store.ts'
import { getPreviewOf, listPreviews, updatePreview } from '../environments/preview-store.ts'
import type { Preview } from '../environments/preview-store.ts'
import { getEnvironmentIn, listEnvironments, updateEnvironment } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { whyNoMore } from '../platform/limits.ts'
import type { Project } from '../projects/store.ts'
import { makePreview } from './make.ts'
import type { Definitions, MakePreviewDeps } from './make.ts'
import type { Pull } from './pull.ts'
import { previewSettings, whyFull } from './settings.ts'

/** `reason` is a sentence. */
export type Outcome = {
  decision: 'deployed' | 'accepted' | 'ignored'
  queued: Queued[]
  reason: string
  /** It is applied again when the deletion of the preview has ended. */
  waits?: boolean
}

type Event = {
  pull: Pull
  project: Project
  isOwnerDisabled: boolean
  definitions: Definitions
  /** Who is named by its deployment. */
  triggeredBy: string
}

const day = 24 * 3_600_000

/** Decides by the project's current settings. Call it in a transaction; the caller publishes events and wakes the queue. */
export function applyPull(deps: MakePreviewDeps, event: Event): Outcome {
  const { pull, project } = event
  const found = getPreviewOf(deps.db, { projectId: project.id, number: pull.number })
  if (project.deletingAt) return ignored('The project is being deleted.')
  if (pull.action === 'closed') return close(deps, event, found?.environment)
  const refused = whyNone(project, pull)
  if (refused !== null) return ignored(refused)
  if (event.isOwnerDisabled) return ignored('The account of the project’s owner is disabled.')
  if (found?.environment.deletingAt)
    return { ...accepted(`${found.environment.name} comes back once it is deleted.`), waits: true }
  try {
    return deps.db.transaction(() =>
      found ? move(deps, event, found) : open(deps, event, `pr-${pull.number}`),
    )
  } catch (error) {
    if (!(error instanceof AppError || error instanceof Failure)) throw error
    return ignored(`Not deployed: ${error.message}`)
  }
}

function close(
  { db, scheduler }: MakePreviewDeps,
  { pull }: Event,
  environment: Environment | undefined,
): Outcome {
  if (!environment) return ignored(`Pull request #${pull.number} has no preview.`)
  if (!environment.deletingAt)
    updateEnvironment(db, environment.id, { deletingAt: new Date(scheduler.now()) })
  return accepted(`${environment.name} is being deleted.`)
}

/** Why a project isn’t concerned by an event that it doesn’t store: strangers send many of these. Null for others. */
export function whyUnheard(db: Db, project: Project, pull: Pull | null) {
  if (!pull) return previewSettings(project).enabled ? null : previewsOff
  const of = { projectId: project.id, number: pull.number }
  return pull.action === 'closed' && getPreviewOf(db, of) ? null : whyNone(project, pull)
}

export const previewsOff = 'Previews are off for this project.'

/** False when no event of a pull request concerns the project. */
export const hearsPulls = (db: Db, project: Project) =>
  previewSettings(project).enabled || listPreviews(db, project.id).length > 0

function whyNone(project: Project, pull: Pull) {
  const { enabled, forks } = previewSettings(project)
  if (!enabled) return previewsOff
  if (pull.isFork && forks === 'never')
    return `Pull request #${pull.number} is from a fork, and previews of forks are off.`
  return null
}

function open(deps: MakePreviewDeps, event: Event, name: string): Outcome {
  const { db } = deps
  const { project, pull, definitions } = event
  const full = whyFull(db, { project, unapproved: pull.isFork })
  if (full !== null) return ignored(full)
  if (listEnvironments(db, project.id).some((other) => other.name === name))
    return ignored(`The project has another environment ${name}. Rename it, then replay this.`)
  const expiresAt = expiryOf(deps, event)
  const preview = makePreview(deps, { project, pull, name, expiresAt, definitions })
  return deploy(deps, event, preview)
}

const expiryOf = ({ scheduler }: MakePreviewDeps, { project }: Event) =>
  new Date(scheduler.now() + previewSettings(project).idleDays * day)

function move(
  deps: MakePreviewDeps,
  event: Event,
  { preview, environment }: { preview: Preview; environment: Environment },
): Outcome {
  const { pull } = event
  if (preview.isFork !== pull.isFork)
    return ignored(`${environment.name} is of another repository’s pull request.`)
  const moved = updatePreview(deps.db, environment.id, {
    ...{ title: pull.title, url: pull.url, ref: pull.ref, headCommit: pull.commit },
    expiresAt: expiryOf(deps, event),
  })
  const last = getLatest(deps.db, environment.id)
  const isKnown = last?.requestedCommit === pull.commit || preview.approvedCommit === pull.commit
  if (isKnown) return ignored(`${environment.name} has this commit already.`)
  return deploy(deps, event, moved)
}

function deploy(deps: MakePreviewDeps, event: Event, preview: Preview): Outcome {
  const { db } = deps
  const { pull, triggeredBy } = event
  const { environment, project } = getEnvironmentIn(db, preview.environmentId)!
  if (preview.isFork) return accepted(`${environment.name} waits for your approval of this commit.`)
  if (!(environment.autoDeploy ?? project.autoDeploy))
    return ignored(`Deploying on push is off for ${environment.name}.`)
  if (!mayWait(db, { project, environment }))
    return accepted(`${environment.name} is not deployed: ${whyNoMore('deployments')}`)
  const queued = enqueue(db, {
    ...{ project, environmentId: environment.id, trigger: 'webhook', triggeredBy },
    ...{ branch: pull.branch, refType: 'branch', commit: pull.commit },
    waitsForChecks: environment.waitForChecks,
  })
  const isHeld = queued.deployment.freeze !== null
  const reason = isHeld
    ? `Waits for the end of a freeze: ${environment.name}.`
    : `Deployed to ${environment.name}.`
  return { decision: 'deployed', queued: [queued], reason }
}

const accepted = (reason: string): Outcome => ({ decision: 'accepted', queued: [], reason })

const ignored = (reason: string): Outcome => ({ decision: 'ignored', queued: [], reason })
