import { setTimeout as sleep } from 'node:timers/promises'
import { listToLoad } from '../db/restored.ts'
import { withCode } from '../environments/code-settings.ts'
import { davitRules } from '../environments/davit-form.ts'
import { applyCode } from '../environments/store.ts'
import { openVariables } from '../environments/variable-store.ts'
import { Failure } from '../platform/errors.ts'
import { keyOf } from '../platform/yaml-source.ts'
import { timed } from '../platform/trace.ts'
import { refuseWithoutBackup } from '../jobs/after-store.ts'
import { listJobsOf } from '../jobs/store.ts'
import type { Work } from '../jobs/task.ts'
import { listLinks } from '../links/store.ts'
import { unlessAborted } from '../platform/pause.ts'
import { davitFileInvalid } from '../projects/davit-file.ts'
import { openKeys, secretsOf } from '../projects/keys.ts'
import { placesOf } from '../addresses/places.ts'
import { shownImage } from '../runtime/images/private-names.ts'
import { moveOf, placementOn } from '../runtime/move-store.ts'
import { counted } from '../web/units.ts'
import { noteSuccess } from './notices.ts'
import type { Progress, StepName } from './progress.ts'
import { promotedIn, promoteNext } from './promote.ts'
import type { Promoted } from './promote.ts'
import { restoredVariables } from './rollback.ts'
import type { PipelineDeps, Run } from './context.ts'
import { buildStack } from './stack/build.ts'
import { build, clone } from './steps/build.ts'
import { chooseBuildEngine } from './steps/choose-build-engine.ts'
import { pull } from './steps/pull.ts'
import { deploy, imageMissing, resolve } from './steps/deploy.ts'
import type { ReadyRun } from './steps/deploy.ts'
import { releaseCommand } from './steps/release.ts'
import { getCurrent, getJob } from './store.ts'
import type { Deployment, Job } from './store.ts'
import { publishSuperseded } from './waiting-store.ts'
import { newWatch } from './watch/store.ts'

/** One run of a deployment. */
export type Attempt = {
  job: Job
  progress: Progress
  /** The changes that couldn't be undone after a failed switch. */
  problems: string[]
}

/** Takes the steps of a deployment, and makes it the live one. */
export async function runPipeline(
  deps: PipelineDeps,
  { job, progress, problems: unsolved }: Attempt,
  work: Work,
) {
  const { signal, shutdown } = work
  const { input, after } = work.job // the input has variables of an earlier deployment, for a rollback
  if (after) refuseWithoutBackup(deps.db, after)
  const { deployment, project } = job
  const { share } = deployment
  const own = input === null ? undefined : restoredVariables(deps, { deployment, input })
  const { environmentId } = deployment
  const variables = own ?? openVariables(deps.db, deps.secrets, environmentId)
  const masking = { kind: 'davit', name: 'secrets to hide in the log' } as const
  progress.hide(await timed(deps.trace, masking, () => deps.masks.of(environmentId)))
  const isOfOurs = deployment.image || deployment.pullReference || deployment.upload
  const keys = isOfOurs ? {} : openKeys(deps, project)
  progress.hide(await deps.masks.of(environmentId, { secrets: secretsOf(keys) }))
  const log: Run['log'] = (text, stream) => progress.log(shownImage(text), stream)
  let buildEngine: ReturnType<Run['buildEngine']> | undefined
  const move = moveOf(deps.db, { id: deployment.id, subjectId: environmentId })
  const run: Run = {
    ...deps,
    ...job,
    move,
    own,
    variables,
    joins: [],
    keys,
    places: placesOf(deps, project.ownerId),
    log,
    signal,
    shutdown,
    buildEngine: () =>
      (buildEngine ??= chooseBuildEngine(deps, {
        ...{ projectId: project.id, builder: deps.config.builder, log, signal },
      })),
    takeSlot: () =>
      timed(deps.trace, { kind: 'wait', name: 'for other builds' }, () =>
        work.takeSlot(() => log('Waiting for other builds.')),
      ),
  }

  if (deployment.imageOf && !deployment.image)
    throw imageMissing('The image of this deployment was cleaned up.')
  if (own) progress.log('With the variables of the deployment that it rolls back to.')
  const { image, codeSettings } = deployment.image
    ? reusedBuild(job, deps)
    : await withinDeadline(run, fromSource)
  work.releaseSlot()
  await untilDatabasesLoaded(run) // beside the build, and however long it takes
  const environment = {
    ...withCode(job.environment, codeSettings),
    ...(move && { placement: placementOn(move.to) }),
  }
  let ready: ReadyRun | undefined
  let promoted: Promoted[] = []
  if (environment.releaseCommand && !move)
    await stage('releasing', async () => releaseCommand((ready = await resolveApp())))
  await stage('deploying', async () =>
    deploy(ready ?? (await resolveApp()), {
      commit(tx, outcome) {
        const isWatched = outcome.unwatched === null
        const watch = isWatched && newWatch(deps, environment, share)
        progress.succeed(tx, { ...outcome, ...watch })
        if (share) return // the rest follows when it is promoted
        noteSuccess(deps.db, deployment.id)
        applyCode(tx, environmentId, codeSettings)
        // one that is watched is promoted when it stays
        if (!isWatched) promoted = promoteNext(deps.db, getJob(deps.db, deployment.id)!)
      },
      committed({ url }) {
        deps.scheduler.wake() // its commit may have schedules
        progress.log(url ? `Running at ${url}` : 'Running')
        if (share)
          progress.log(
            `It gets ${share.percent} % of the requests until it is promoted or cancelled, at most for 24 hours.`,
          )
        for (const one of promoted) progress.log(promotedIn(one))
        progress.reportSuccess()
        deps.watches.begin(deployment.id)
        for (const { queued } of promoted) if (queued) publishSuperseded(deps, queued)
      },
      undone({ downtimeMs, problems }) {
        unsolved.push(...problems)
        if (downtimeMs !== null) progress.save({ downtimeMs })
      },
    }),
  )

  async function resolveApp() {
    // Links that were created during the build have secrets too.
    progress.hide(await deps.masks.of(environmentId, { secrets: secretsOf(keys) }))
    return resolve({ ...run, environment }, image)
  }

  function sayIfLive(isSame: (live: Deployment) => boolean) {
    const live = deployment.plannedAt && getCurrent(deps.db, environmentId)
    if (live && isSame(live))
      log('Nothing new was there at its time: this version is live, and is deployed again.')
  }

  async function fromSource(run: Run) {
    const { pullReference } = deployment
    if (pullReference === null) return buildFromSource(run)
    const pulled = await stage('pulling', () => pull(run, pullReference))
    progress.save(pulled)
    sayIfLive((live) => live.pullDigest === pulled.pullDigest)
    return { image: pulled.image, codeSettings: null }
  }

  async function buildFromSource(run: Run) {
    run.buildEngine().catch(() => {}) // it takes Docker long, and is reported when it is needed
    work.lendSlot() // until everything from other servers has arrived
    await untilServicesStarted(run)
    const snapshot = await stage('cloning', () => clone(run))
    if (!deployment.upload)
      progress.save({
        branch: snapshot.branch,
        refType: snapshot.refType,
        commitHash: snapshot.commit.hash,
        commitAuthor: snapshot.commit.author,
        commitMessage: snapshot.commit.message,
      })
    sayIfLive((live) => live.commitHash === snapshot.commit.hash)
    // a fork could name any repository as a submodule
    const own = deployment.refType === 'pull' ? { ...run, keys: {} } : run
    if (project.composeFile !== null) {
      const { store, ...built } = await stage('building', () => buildStack(own, snapshot))
      deps.db.transaction(() => {
        store()
        progress.save(built)
      })
      return built
    }
    const built = await stage('building', () => build(own, snapshot))
    progress.save(built)
    return built
  }

  function stage<Result>(step: StepName, work: () => Promise<Result>) {
    signal.throwIfAborted()
    if (!progress.enter(step))
      throw new Error(`Deployment ${deployment.id} was changed by another process`)
    deps.trace?.enter(step)
    return work()
  }
}

/** Those that are linked may have been created at the same time. */
async function untilServicesStarted({ db, jobs, environment, log, signal }: Run) {
  for (const { service } of listLinks(db, environment.id))
    for (const { id } of listJobsOf(db, service.id).filter(({ kind }) => kind === 'start')) {
      log(`Waiting for the service ${service.name} to start.`)
      await unlessAborted(jobs.ended(id), signal)
    }
}

/** After a restore of the server: an app would set up those that are still empty, and lose what it writes. */
async function untilDatabasesLoaded({ db, jobs, environment, log, signal }: Run) {
  const isLoading = (id: string) => listToLoad(db).some(({ subjectId }) => subjectId === id)
  for (const { service } of listLinks(db, environment.id)) {
    if (!isLoading(service.id)) continue
    log(`Waiting until the databases of ${service.name} are loaded.`)
    while (isLoading(service.id)) await sleep(200, undefined, { signal })
    // its programs began with empty ones
    for (const { id } of listJobsOf(db, service.id).filter(({ kind }) => kind === 'restart'))
      await unlessAborted(jobs.ended(id), signal)
  }
}

/** The limits of the environment may be lower than when it was built. */
function reusedBuild(
  { deployment: { image, codeSettings }, environment }: Job,
  { edge }: Pick<PipelineDeps, 'edge'>,
) {
  const [above] = codeSettings ? davitRules({ environment, edge }).check(codeSettings.settings) : []
  if (above)
    throw davitFileInvalid([`${codeSettings!.file}: ${keyOf(above.path)} ${above.message}`])
  return { image: image!, codeSettings }
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
    `Cloning and building took longer than ${counted(Math.round(milliseconds / 60_000), 'minute')} and was stopped.`,
    'Check the log for the command that hangs. The operator can allow more minutes with DAVIT_BUILD_TIMEOUT.',
  )
