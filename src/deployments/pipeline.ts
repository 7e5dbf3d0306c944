import type { Config } from '../config.ts'
import { retryOnDiskFull } from '../db/failures.ts'
import type { LogDb } from '../db/index.ts'
import { openVariables } from '../environments/variable-store.ts'
import type { Git } from '../git/git.ts'
import { whyUnreached } from '../links/unreached.ts'
import type { Logs } from '../logs/logs.ts'
import { Failure } from '../platform/errors.ts'
import { journal, report } from '../platform/journal.ts'
import { stopping } from '../jobs/jobs.ts'
import type { Work as JobWork } from '../jobs/jobs.ts'
import type { SlotCalls } from '../jobs/slots.ts'
import { nothingHidden } from '../logs/masks.ts'
import type { Masks } from '../logs/masks.ts'
import { openKeys, secretsOf } from '../projects/keys.ts'
import { placesOf } from '../addresses/places.ts'
import { shownImage } from '../runtime/images/private-names.ts'
import type { RuntimeDeps } from '../runtime/workload.ts'
import { explainStep } from './explain.ts'
import { imageNameOf, removeOldImages } from './images.ts'
import { observe } from './observe.ts'
import { Progress } from './progress.ts'
import type { StepName } from './progress.ts'
import { restoredVariables } from './rollback.ts'
import type { Run } from './context.ts'
import { build } from './steps/build.ts'
import { clone } from './steps/clone.ts'
import { deploy, imageMissing, resolve } from './steps/deploy.ts'
import type { ReadyRun } from './steps/deploy.ts'
import { releaseCommand } from './steps/release.ts'
import { getJob } from './store.ts'
import type { Job } from './store.ts'
import { commitStatuses } from './commit-status.ts'

export type PipelineDeps = RuntimeDeps & {
  config: Config
  logDb: LogDb
  git: Git
  logs: Logs
  masks: Masks
}

/** Runs one deployment to its end. The outcome is its state and its log; failures aren't thrown. */
export async function runPipeline(
  deps: PipelineDeps,
  { job: { id, attempt, input }, ...options }: JobWork,
) {
  const job = getJob(deps.db, id)
  if (!job) return
  const progress = new Progress(deps, job.deployment)
  const reportCommitStatus = commitStatuses(deps, { job, log: progress.log })
  const work: Work = { ...options, attempt, input, job, progress, reportCommitStatus, problems: [] }
  const tidyUp = (tidying: Promise<void>) =>
    tidying.catch((error) => {
      if (!options.shutdown.aborted)
        report('tidying up after a deployment failed', error, { deployment: id })
    })
  const settle = () =>
    tidyUp(observe(deps, job.environment.id, { orphans: true, signal: options.shutdown }))
  try {
    await takeSteps(deps, work)
    await settle()
    await tidyUp(removeOldImages(deps, job))
  } catch (error) {
    await settle()
    await end(deps, { ...work, error })
  }
  reportCommitStatus()
}

type Work = Pick<JobWork, 'signal' | 'shutdown' | keyof SlotCalls> & {
  attempt: number
  /** Variables of an earlier deployment, encrypted, for a rollback that uses them. */
  input: string | null
  job: Job
  progress: Progress
  reportCommitStatus: () => void
  /** The changes that couldn't be undone after a failed switch. */
  problems: string[]
}

async function takeSteps(deps: PipelineDeps, work: Work) {
  const { attempt, input, job, progress, reportCommitStatus, signal, shutdown } = work
  const { deployment, environment, project } = job
  const own = input === null ? undefined : restoredVariables(deps, { deployment, input })
  const variables = own ?? openVariables(deps.db, deps.secrets, environment.id)
  progress.hide(await deps.masks.of(environment.id))
  const keys = deployment.image ? {} : openKeys(deps, project)
  progress.hide(await deps.masks.of(environment.id, { secrets: secretsOf(keys) }))
  const { save } = progress
  const log: Run['log'] = (text, stream) => progress.log(shownImage(text), stream)
  const run: Run = {
    ...deps,
    ...job,
    attempt,
    own,
    variables,
    joins: [],
    keys,
    places: placesOf(deps, project.ownerId),
    log,
    save,
    signal,
    shutdown,
    takeSlot: () => work.takeSlot(() => log('Waiting for other builds.')),
  }

  if (deployment.imageOf && !deployment.image)
    throw imageMissing('The image of this deployment was cleaned up.')
  if (own) progress.log('With the variables of the deployment that it rolls back to.')
  const image = deployment.image ?? (await withinDeadline(run, buildFromSource))
  work.releaseSlot()
  let ready: ReadyRun | undefined
  if (environment.releaseCommand)
    await stage('releasing', async () => releaseCommand((ready = await resolveApp())))
  await stage('deploying', async () =>
    deploy(ready ?? (await resolveApp()), {
      commit: (tx, outcome) => progress.succeed(tx, outcome),
      committed({ url }) {
        progress.log(url ? `Running at ${url}` : 'Running')
        progress.tellSuccess()
        reportCommitStatus()
      },
      undone({ downtimeMs, problems }) {
        work.problems = problems
        if (downtimeMs !== null) save({ downtimeMs })
      },
    }),
  )

  async function resolveApp() {
    // Links that were created during the build have secrets too.
    progress.hide(await deps.masks.of(environment.id, { secrets: secretsOf(keys) }))
    if (deployment.image) reportCommitStatus()
    return resolve(run, image)
  }

  async function buildFromSource(run: Run) {
    work.lendSlot() // until everything from other servers has arrived
    const snapshot = await stage('cloning', () => clone(run))
    progress.save({
      branch: snapshot.branch,
      commitHash: snapshot.commit.hash,
      commitAuthor: snapshot.commit.author,
      commitMessage: snapshot.commit.message,
    })
    reportCommitStatus()
    const image = await stage('building', () => build(run, snapshot))
    progress.save({ image })
    return image
  }

  function stage<Result>(step: StepName, work: () => Promise<Result>) {
    signal.throwIfAborted()
    if (!progress.enter(step))
      throw new Error(`Deployment ${deployment.id} was changed by another process`)
    return work()
  }
}

async function end(
  deps: PipelineDeps,
  { job, progress, signal, shutdown, error, problems }: Work & { error: unknown },
) {
  const { id } = job.deployment
  const patience = { signal: shutdown }
  if (signal.reason === stopping) {
    progress.log('Davit is stopping. This deployment resumes when it starts again.')
    return progress.requeue()
  }
  const left = await discardImage(deps, job)
  if (signal.aborted) {
    progress.log('Cancelled.')
    return retryOnDiskFull(() => progress.cancel(left), patience)
  }
  const explained = explainStep(error, progress.step)
  const why = await whyUnreachedBy(deps, { job, progress })
  const { code, message, hint } = explained
  const failure = why ? new Failure(code, message, `${why} ${hint}`) : explained
  if (failure.code === 'internal')
    journal.error('deployment failed', error, { deployment: id, step: progress.step })
  // The mask of this run lacks values that were marked secret meanwhile.
  const { mask } = await deps.masks.of(job.environment.id).catch(() => nothingHidden)
  failure.message = mask(shownImage([failure.message, ...problems].join(' ')))
  progress.log(`Failed: ${failure.message} ${failure.hint}`)
  await retryOnDiskFull(() => progress.fail(failure, left), patience)
}

/** Names the host that the app couldn't reach during its start; null when its output doesn't show one. */
async function whyUnreachedBy(
  deps: PipelineDeps,
  { job: { project, environment }, progress }: Pick<Work, 'job' | 'progress'>,
) {
  if (progress.step !== 'releasing' && progress.step !== 'deploying') return null
  try {
    return whyUnreached(deps, { project, environment, lines: await progress.output(deps) })
  } catch (error) {
    report('finding out what an app could not reach failed', error, { environment: environment.id })
    return null
  }
}

/** Removes the image under this deployment's own name: a rollback runs the image of another deployment. */
async function discardImage(deps: PipelineDeps, { deployment }: Job) {
  try {
    await deps.docker.removeImage(imageNameOf(deps, deployment))
    return { image: null }
  } catch (error) {
    report('the image of a deployment could not be removed', error, { deployment: deployment.id })
    return {}
  }
}

/** Aborts the work after DAVIT_BUILD_TIMEOUT, not counting time spent waiting for a slot. */
async function withinDeadline<Result>(
  run: Run,
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  const { buildTimeout } = run.config
  const over = new AbortController()
  let left = buildTimeout
  let begun = performance.now()
  let timer = setTimeout(() => over.abort(), left)
  const takeSlot = async () => {
    clearTimeout(timer)
    left -= performance.now() - begun
    await run.takeSlot()
    begun = performance.now()
    timer = setTimeout(() => over.abort(), left)
  }
  try {
    return await work({ ...run, takeSlot, signal: AbortSignal.any([run.signal, over.signal]) })
  } catch (error) {
    throw over.signal.aborted && !run.signal.aborted ? tookTooLong(buildTimeout) : error
  } finally {
    clearTimeout(timer)
  }
}

const tookTooLong = (milliseconds: number) =>
  new Failure(
    'build_timeout',
    `Cloning and building took longer than ${inWords(milliseconds)} and was stopped.`,
    'Check the log for the command that hangs. The operator can allow more minutes with DAVIT_BUILD_TIMEOUT.',
  )

function inWords(milliseconds: number) {
  const minutes = Math.round(milliseconds / 60_000)
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}
