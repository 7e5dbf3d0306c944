import { unlessUsed } from '../docker/index.ts'
import type { End, Kind, News } from '../jobs/task.ts'
import { whyUnreached } from '../links/unreached.ts'
import { Failure } from '../platform/errors.ts'
import { Trace } from '../platform/trace.ts'
import { report } from '../platform/journal.ts'
import { shownImage } from '../runtime/images/private-names.ts'
import { removeEverywhere } from '../runtime/images/remove.ts'
import { endMove, settleMove } from '../runtime/moves.ts'
import { deployedImage } from '../runtime/images/stack-store.ts'
import type { PipelineDeps } from './context.ts'
import { explainStep } from './explain.ts'
import { imageNameOf, removeOldImages } from './images.ts'
import { noteFailure } from './notices.ts'
import { observe } from './observe.ts'
import { runPipeline } from './pipeline.ts'
import { promotedIn } from './promote.ts'
import type { Attempt } from './pipeline.ts'
import { Progress } from './progress.ts'
import { activeStatuses, getJob, hasUnended, moveDeployment } from './store.ts'
import type { Job } from './store.ts'
import { keepTrace, traced } from './trace.ts'
import { publishSuperseded, slotFor } from './waiting-store.ts'
import { promoteStayed } from './watch/end.ts'

/** Deployments are jobs with the same ids. */
export const deployKind =
  (deps: PipelineDeps): Kind =>
  ({ id }) => {
    const job = getJob(deps.db, id)
    if (!job) return undefined
    const { deployment, environment } = job
    const progress = new Progress(deps, deployment)
    const attempt: Attempt = { job, progress, problems: [] }
    let isBegun = false
    return {
      log: progress.writer,
      // the log's own lacks values that were marked secret meanwhile, but has those of the repository
      async mask() {
        const { mask } = await deps.masks.of(environment.id)
        return (text) => progress.writer.mask.mask(mask(text))
      },
      doing: deployment.status,
      again: 'deploy again',
      async run(work) {
        isBegun = true
        const options = { orphans: true, signal: work.shutdown }
        const trace = new Trace()
        try {
          await runPipeline(traced(deps, trace), attempt, work)
        } finally {
          keepTrace(deps, deployment, trace)
          await observe(deps, environment.id, options).catch((error) => {
            if (work.shutdown.aborted) return
            report('an app could not be observed', error, { environment: environment.id })
          })
        }
      },
      explain: (error) => explain(deps, attempt, error),
      async end(end) {
        if (end.status === 'done') return undefined // it was stored when it went live
        endMove(deps, { id, subjectId: environment.id }, end)
        return storeEnd(deps, attempt, { end, isBegun })
      },
      async after(end, signal) {
        await deps.uploads.sweep()
        await settleMove(deps, { id: environment.id, kind: 'app' }, { signal })
        // how many are kept may be another number than when it began
        const ended = getJob(deps.db, id)
        if (end.status === 'done' && ended) await removeOldImages(deps, ended)
      },
      requeue: (why) => requeue(deps, id, why),
    }
  }

async function storeEnd(
  deps: PipelineDeps,
  { job, progress }: Attempt,
  { end, isBegun }: { end: Exclude<End, { status: 'done' }>; isBegun: boolean },
): Promise<News | undefined> {
  const { id, status, environmentId } = job.deployment
  const wasQueued = !isBegun && status === 'pending'
  const changes = isBegun
    ? { ...(await discardImage(deps, job)), ...progress.finished() }
    : { ...(!wasQueued && { image: null }), finishedAt: new Date() } // an orphan is removed later
  const from = ['pending', ...activeStatuses] as const
  if (end.status === 'cancelled') {
    const isStored = stored(() =>
      moveDeployment(deps.db, { id, from, ...changes, status: 'cancelled' }),
    )
    if (!isStored) return undefined
    const line = `Cancelled${end.by ? ` by ${end.by}` : ''} while queued.`
    return { status: 'cancelled', line: wasQueued ? line : 'Cancelled.' }
  }
  const { code, message, hint } = end.failure
  const isStored = stored(() => {
    const isMoved = moveDeployment(deps.db, {
      ...{ id, from, ...changes, status: 'failed' },
      errorStep: isBegun ? progress.step : status,
      errorCode: code,
      errorMessage: message,
      errorHint: hint,
    })
    if (isMoved) noteFailure(deps.db, id, end.failure)
    return isMoved
  })
  return isStored ? { status: 'failed', line: `Failed: ${message} ${hint}` } : undefined

  /** True when another one goes on to replace the version whose watch it ended. */
  function isReplaced() {
    return wasQueued && hasUnended(deps.db, environmentId)
  }

  /** With what is promoted, as the version before stays. */
  function stored(store: () => boolean) {
    const promoted = deps.db.transaction(() =>
      store() ? (isReplaced() ? [] : promoteStayed(deps.db, environmentId)) : null,
    )
    for (const one of promoted ?? []) {
      progress.log(promotedIn(one))
      if (one.queued) publishSuperseded(deps, one.queued)
    }
    return promoted !== null
  }
}

async function explain(
  deps: PipelineDeps,
  { job, progress, problems }: Attempt,
  error: unknown,
): Promise<Failure> {
  const { code, message, hint } = explainStep(error, progress.step)
  const why = await whyUnreachedBy(deps, { job, progress })
  return new Failure(
    code,
    shownImage([message, ...problems].join(' ')),
    why ? `${why} ${hint}` : hint,
  )
}

/** Names the host that the app couldn't reach during its start; null when its output doesn't show one. */
async function whyUnreachedBy(
  deps: PipelineDeps,
  { job: { project, environment }, progress }: Pick<Attempt, 'job' | 'progress'>,
) {
  if (progress.step !== 'releasing' && progress.step !== 'deploying') return null
  try {
    return whyUnreached(deps, { project, environment, lines: await progress.output(deps) })
  } catch (error) {
    report('finding out what an app could not reach failed', error, { environment: environment.id })
    return null
  }
}

/**
 * Removes the image under this deployment's own name: a rollback runs the image of another deployment. One that a
 * container still uses is removed after a later deployment.
 */
async function discardImage(deps: PipelineDeps, { project, deployment }: Job) {
  const image = imageNameOf(deps, deployment)
  try {
    const all = project.composeFile === null ? [] : await deps.docker.listImages()
    const ofServices = all.flatMap(({ tags }) => tags.filter((tag) => deployedImage(tag) === image))
    let isUsed = false
    for (const name of new Set([image, ...ofServices]))
      if (!(await unlessUsed(removeEverywhere(deps.engines, name).then(() => true)))) isUsed = true
    return isUsed ? {} : { image: null }
  } catch (error) {
    report('the image of a deployment could not be removed', error, { deployment: deployment.id })
    return {}
  }
}

/** It needs no build slot once its image is built. */
function requeue({ db }: PipelineDeps, id: string, why: 'stop' | 'crash') {
  const found = getJob(db, id)
  if (!found) return undefined
  const { status } = found.deployment
  moveDeployment(db, { id, from: [status], status: 'pending' })
  const line =
    why === 'stop'
      ? 'Davit is stopping. This deployment resumes when it starts again.'
      : `Davit stopped while ${status}. The deployment resumes.`
  return { status: 'pending', line, slot: slotFor(found.deployment) }
}
