import type { Config } from '../config.ts'
import { retryOnDiskFull } from '../db/failures.ts'
import type { LogDb } from '../db/index.ts'
import { onceComponent } from '../deployments/components.ts'
import { imageMissing, refuseMissing } from '../deployments/steps/deploy.ts'
import { stopping } from '../jobs/jobs.ts'
import type { GivenUp, Handler, Work } from '../jobs/jobs.ts'
import { forgetAttempts, requeueJob } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import { urlOf } from '../environments/json.ts'
import { effectiveVariables } from '../links/effective.ts'
import { LogWriter } from '../logs/log-writer.ts'
import type { Logs } from '../logs/logs.ts'
import type { Masks } from '../logs/masks.ts'
import { deleteSome } from '../logs/store.ts'
import { Failure } from '../platform/errors.ts'
import { journal, report } from '../platform/journal.ts'
import { pause } from '../platform/pause.ts'
import { joinWords, wordsOf } from '../platform/shell-words.ts'
import { placesOf } from '../addresses/places.ts'
import type { Component } from '../runtime/component.ts'
import { explain } from '../runtime/explain.ts'
import { endFailure, named } from '../runtime/once-failures.ts'
import { getOnce } from '../runtime/once-store.ts'
import { removeOnce, runOnce } from '../runtime/run-once.ts'
import type { Ended } from '../runtime/run-once.ts'
import type { RuntimeDeps } from '../runtime/workload.ts'
import type { StopReason } from '../containers/store.ts'
import type { Starts } from './starts.ts'
import { deleteRun, endRun, getRunIn, listOld, logOf, setRunning } from './store.ts'
import type { RunEnd, RunIn } from './store.ts'

export type RunDeps = RuntimeDeps & {
  config: Config
  logDb: LogDb
  logs: Logs
  masks: Masks
  starts: Starts
  diskGuard: { reasonOf: (containerId: string) => StopReason | null }
}

/** Ended runs of an environment that are kept. */
const kept = 20

/** Runs are jobs with the same id. */
export const runHandler = (deps: RunDeps): Handler => ({
  run: (work) => doRun(deps, work),
  giveUp: (job, end) => giveUp(deps, job, end),
})

async function doRun(deps: RunDeps, work: Work) {
  const { job, signal } = work
  const found = getRunIn(deps.db, job.id)
  if (!found) return
  const { run } = found
  const log = new LogWriter(deps, logOf(run))
  log.mask = await deps.masks.of(run.environmentId)
  try {
    const component = await componentOf(deps, found)
    if (run.status === 'pending' && job.attempt === 1)
      log.write(`Running ${joinWords(wordsOf(run.command))}`)
    let containerId = ''
    const started = (id: string) => (containerId = id)
    const ended = await runOnce(deps, onceOf(deps, { found, component, work, log, started }))
    await store(
      deps,
      { ...work, found, log },
      stoppedBy(deps, containerId) ?? endOf(ended, component),
    )
  } catch (error) {
    if (signal.reason === stopping) {
      log.end()
      deps.starts.over(run.id)
      return void requeueJob(deps.db, run.id)
    }
    await store(
      deps,
      { ...work, found, log },
      signal.aborted ? wasCancelled : failed(error, run.id),
    )
  }
  await remove(deps, found)
  await removeOld(deps, run.environmentId)
}

/** With the current settings, variables and links, as the next deployment would have them. */
async function componentOf(deps: RunDeps, { run, environment, project, deployment }: RunIn) {
  const { image } = deployment
  if (!image) throw imageMissing('The live image was removed.')
  const url =
    deployment.url && urlOf(deps, { environment, ownerId: project.ownerId, isIntended: true })
  const effective = await effectiveVariables(deps, { project, environment, deployment, url })
  refuseMissing(effective, { what: named.run.what, again: 'run it again' })
  const places = placesOf(deps, project.ownerId)
  const app = { project, environment, places, edge: deps.edge, ...effective }
  const component = onceComponent(app, { name: 'run', image, command: wordsOf(run.command) })
  if (!run.attach) return component
  const { options } = component
  const env = { TERM: 'xterm-256color', ...options.env }
  // an interactive shell ignores SIGTERM; it ends when its terminal hangs up
  return { ...component, options: { ...options, env, tty: true, stopSignal: 'SIGHUP' } }
}

function onceOf(
  { db, logs, starts }: RunDeps,
  {
    found: { run, environment, project, deployment },
    component,
    work: { signal, shutdown },
    log,
    started,
  }: {
    found: RunIn
    component: Component
    work: Work
    log: LogWriter
    started: (containerId: string) => void
  },
) {
  const { id, attach, timeout } = run
  return {
    id,
    workload: {
      id: environment.id,
      kind: 'app' as const,
      ownerId: project.ownerId,
      projectId: project.id,
    },
    releaseId: deployment.id,
    component,
    timeout,
    subject: 'run' as const,
    resumes: true,
    created: async (containerId: string, signal: AbortSignal) => {
      log.flush() // before its own lines
      if (attach) await starts.waitForClient(id, containerId, signal)
    },
    started: (containerId: string) => {
      started(containerId)
      if (setRunning(db, id)) logs.publish(id, { status: 'running' })
      forgetAttempts(db, id) // it survives restarts of Davit: only a start is an attempt
      starts.started(id, containerId)
    },
    signal,
    shutdown,
  }
}

type Ending = { found: RunIn; log: LogWriter; shutdown: AbortSignal }
type End = RunEnd & { line: string }

const wasCancelled: End = { status: 'cancelled', line: 'Cancelled.' }

function stoppedBy({ diskGuard }: RunDeps, containerId: string): End | null {
  const why = diskGuard.reasonOf(containerId)
  const error = why && new Failure(why.code, why.message, why.hint)
  return error && { status: 'failed', ...errorOf(error), line: lineOf(error) }
}

function endOf(ended: Ended, { options }: Component): End {
  const { exitCode } = ended
  if (exitCode === 0) return { status: 'succeeded', exitCode, line: 'Exited with code 0.' }
  // the command itself explains any other code
  const failure = ended.oomKilled ? endFailure('run', ended, options) : null
  const line = failure ? lineOf(failure) : `Exited with code ${exitCode}.`
  return { status: 'failed', exitCode, ...(failure && errorOf(failure)), line }
}

function failed(error: unknown, runId: string): End {
  const failure = explain(error, named.run)
  if (failure.code === 'internal') journal.error('a run failed', error, { run: runId })
  return { status: 'failed', ...errorOf(failure), line: lineOf(failure) }
}

const lineOf = ({ message, hint }: Failure) => `${message} ${hint}`

const errorOf = ({ code, message, hint }: Failure) => ({
  errorCode: code,
  errorMessage: message,
  errorHint: hint,
})

async function store(deps: RunDeps, { found: { run }, log, shutdown }: Ending, end: End) {
  const { db, logs, starts, masks } = deps
  const { line, errorMessage, ...stored } = end
  // the mask of this log lacks values that were marked secret meanwhile
  log.mask = await masks.of(run.environmentId).catch(() => log.mask)
  const { mask } = log.mask
  log.write(line)
  log.end()
  const masked = errorMessage ? { errorMessage: mask(errorMessage) } : {}
  await retryOnDiskFull(() => endRun(db, run.id, { ...stored, ...masked }), { signal: shutdown })
  logs.publish(run.id, { status: end.status })
  starts.over(run.id)
}

async function remove(deps: RunDeps, { run, environment }: Pick<RunIn, 'run' | 'environment'>) {
  const of = { workload: { id: environment.id, kind: 'app' as const }, id: run.id }
  await removeOnce(deps, of).catch((error) =>
    report('the container of a run could not be removed yet', error, { run: run.id }),
  )
}

/** The log is deleted first: one without its run would stay forever. */
async function removeOld({ db, logDb }: RunDeps, environmentId: string) {
  for (const run of listOld(db, environmentId, kept)) {
    while (deleteSome(logDb, logOf(run))) await pause()
    deleteRun(db, run.id)
  }
}

const reasons: Record<Exclude<GivenUp['why'], 'cancelled'>, Failure> = {
  interrupted: new Failure(
    'interrupted',
    'Run failed: Davit crashed twice while it started.',
    'Check the memory of the server, then run it again.',
  ),
  broken: new Failure(
    'internal',
    'Run failed: something went wrong inside Davit.',
    'Davit’s log has the details. Trying again can help.',
  ),
}

async function giveUp(deps: RunDeps, job: Job, { why }: GivenUp) {
  const found = getRunIn(deps.db, job.id)
  if (!found) return
  const end: End =
    why === 'cancelled'
      ? wasCancelled
      : { status: 'failed', ...errorOf(reasons[why]), line: lineOf(reasons[why]) }
  const { line, ...stored } = end
  const log = new LogWriter(deps, logOf(found.run))
  if (endRun(deps.db, job.id, stored)) log.write(line)
  log.end()
  deps.logs.publish(job.id, { status: end.status })
  deps.starts.over(job.id)
  if (getOnce(deps.db, job.id)) await remove(deps, found)
}
