import type { Config } from '../config.ts'
import type { Db, LogDb } from '../db/index.ts'
import { onceIn, openStack } from '../deployments/stack/open.ts'
import { imageMissing, refuseMissing, workloadOf } from '../deployments/steps/deploy.ts'
import { forgetAttempts } from '../jobs/store.ts'
import type { End, Kind } from '../jobs/task.ts'
import { urlOf } from '../environments/json.ts'
import { getMain } from '../environments/store.ts'
import { effectiveVariables } from '../links/effective.ts'
import { LogWriter } from '../logs/log-writer.ts'
import type { Logs } from '../logs/logs.ts'
import type { Masks } from '../logs/masks.ts'
import { deleteSome } from '../logs/store.ts'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { pause } from '../platform/pause.ts'
import { joinWords, wordsOf } from '../platform/shell-words.ts'
import { placesOf } from '../addresses/places.ts'
import { explain } from '../runtime/explain.ts'
import { endFailure, named } from '../runtime/once-failures.ts'
import { getOnce } from '../runtime/once-store.ts'
import { removeOnce, runOnce } from '../runtime/run-once.ts'
import { keyOf } from '../runtime/store.ts'
import type { RuntimeDeps } from '../runtime/deps.ts'
import type { StopReason } from '../containers/store.ts'
import { noteScheduleEnd } from './schedule-notice.ts'
import type { Starts } from './starts.ts'
import { deleteRun, endRun, getRunIn, listOld, logOf, setDeployment, setRunning } from './store.ts'
import type { RunEnd, RunIn } from './store.ts'

export type RunDeps = RuntimeDeps & {
  config: Config
  logDb: LogDb
  logs: Logs
  masks: Masks
  starts: Starts
  diskGuard: { reasonOf: (containerId: string) => StopReason | null }
}

/** Ended runs that are kept: of each schedule, of those that are gone, and of those that people started. */
const kept = 20

/** Runs are jobs with the same id. */
export const runKind =
  (deps: RunDeps): Kind =>
  ({ id, attempt }) => {
    const found = getRunIn(deps.db, id)
    if (!found) return undefined
    const { run, environment } = found
    const { db, logs, starts } = deps
    const workload = workloadOf(found)
    const log = new LogWriter(deps, logOf(run))
    let exitCode: number | null = null
    return {
      log,
      mask: async () => (await deps.masks.of(environment.id)).mask,
      doing: 'the run started',
      again: 'run it again',
      async run(work) {
        log.mask = await deps.masks.of(environment.id)
        const current = inLiveImage(db, found)
        const component = await componentOf(deps, current, work.signal)
        if (run.status === 'pending' && attempt === 1)
          log.write(`Running ${joinWords(wordsOf(run.command))}`)
        let containerId = ''
        const ended = await runOnce(deps, {
          ...{ id, workload, releaseId: current.deployment.id, component },
          ...{ timeout: run.timeout, subject: 'run', resumes: true },
          async created(container, signal) {
            log.flush() // before its own lines
            if (run.attach || run.stdin) await starts.waitForClient(id, container, signal)
          },
          started(container) {
            containerId = container.id
            if (setRunning(db, run.id)) logs.publish(run.id, { status: 'running' })
            forgetAttempts(db, run.id) // it survives restarts of Davit: only a start is an attempt
            starts.started(run.id, container)
          },
          log(line) {
            log.write(line)
            log.flush() // before its own lines
          },
          slots: work,
          signal: work.signal,
          shutdown: work.shutdown,
        })
        const stopped = deps.diskGuard.reasonOf(containerId)
        if (stopped) throw new Failure(stopped.code, stopped.message, stopped.hint)
        exitCode = ended.exitCode
        // the command itself explains any other code
        const failure = ended.oomKilled ? endFailure('run', ended, component.options) : null
        if (failure) throw failure
      },
      explain: (error) => explain(error, named.run),
      end(end) {
        const { line, ...stored } = endOf(end, exitCode)
        const isStored = db.transaction(() => {
          const isEnded = endRun(db, id, stored)
          if (isEnded && run.scheduleId) noteScheduleEnd(db, found, stored)
          return isEnded
        })
        starts.over(id)
        return isStored ? { status: stored.status, line } : undefined
      },
      async after() {
        await removeOnce(deps, { workload, id }).catch((error) =>
          report('the container of a run could not be removed yet', error, { run: id }),
        )
        await removeOld(deps, run)
      },
      requeue: () => starts.over(id),
    }
  }

/** It may have waited for its turn, and another version may be live since. */
function inLiveImage(db: Db, found: RunIn): RunIn {
  const { id, environmentId } = found.run
  const live = keyOf(getOnce(db, id)) ? undefined : getMain(db, environmentId)
  if (!live || live.id === found.deployment.id) return found
  setDeployment(db, id, live.id)
  return { ...found, deployment: live }
}

function endOf(end: End, exitCode: number | null): RunEnd & { line: string } {
  if (end.status === 'cancelled') return { status: 'cancelled', line: 'Cancelled.' }
  if (end.status === 'done') {
    const status = exitCode === 0 ? 'succeeded' : 'failed'
    return { status, exitCode, line: `Exited with code ${exitCode}.` }
  }
  const { code, message, hint } = end.failure
  const error = { errorCode: code, errorMessage: message, errorHint: hint }
  return { status: 'failed', exitCode, ...error, line: `${message} ${hint}` }
}

/** With the current settings, variables and links, as the next deployment would have them. */
async function componentOf(
  deps: RunDeps,
  { run, environment, project, deployment }: RunIn,
  signal: AbortSignal,
) {
  const { image } = deployment
  if (!image) throw imageMissing('The live image was removed.')
  const url =
    deployment.url && urlOf(deps, { environment, ownerId: project.ownerId, isIntended: true })
  const effective = await effectiveVariables(deps, { project, environment, deployment, url })
  refuseMissing(effective, { what: named.run.what, again: 'run it again' })
  const places = placesOf(deps, project.ownerId)
  const app = { project, environment, places, edge: deps.edge, ...effective }
  const { variables } = effective
  const stack = await openStack(deps, { project, environment, image, variables, signal })
  const component = onceIn(app, { name: 'run', image, command: wordsOf(run.command), stack })
  if (run.stdin) return { ...component, options: { ...component.options, takesInput: true } }
  if (!run.attach) return component
  const { options } = component
  const env = { TERM: 'xterm-256color', ...options.env }
  // an interactive shell ignores SIGTERM; it ends when its terminal hangs up
  return { ...component, options: { ...options, env, tty: true, stopSignal: 'SIGHUP' } }
}

/** The log is deleted first: one without its run would stay forever. */
async function removeOld({ db, logDb }: RunDeps, ended: RunIn['run']) {
  for (const run of listOld(db, ended, kept)) {
    while (deleteSome(logDb, logOf(run))) await pause()
    deleteRun(db, run.id)
  }
}
