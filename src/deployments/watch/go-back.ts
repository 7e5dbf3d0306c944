import { setTimeout as sleep } from 'node:timers/promises'
import type { Tx } from '../../db/index.ts'
import type { WatchVerdict } from '../../db/schema.ts'
import { listLastLines } from '../../logs/read-log.ts'
import { counted } from '../../web/units.ts'
import { calm } from '../../runtime/crash-count.ts'
import type { Condition } from '../../runtime/observed-containers.ts'
import { getLiveRelease } from '../../runtime/store.ts'
import { switchBack } from '../../runtime/standby.ts'
import { noteReverted } from '../notices.ts'
import { getDeployment } from '../../environments/store.ts'
import { getJob } from '../store.ts'
import { workloadOf } from '../steps/deploy.ts'
import { endWatch, logTo } from './end.ts'
import {
  figuresOf,
  getWatched,
  storeReverted,
  storeTakenBack,
  storeVerdict,
  updateRequests,
} from './store.ts'
import type { Watched } from './store.ts'
import { subjectsOf } from './subjects.ts'
import { failedOf } from './view.ts'
import type { WatchDeps } from './deps.ts'

type Verdict = { verdict: WatchVerdict; shutdown: AbortSignal }

/**
 * Sends requests back to the version before, at once, and stores the decision, so that the next process carries it
 * out if this one is killed. Returns false when the new version stays.
 */
export async function goBack(deps: WatchDeps, watched: Watched, { verdict, shutdown }: Verdict) {
  const { db, logs } = deps
  const { id, environmentId, watch } = watched
  const before = getDeployment(db, watch.before)
  const stay = (now: Watched, why: string) =>
    endWatch(deps, now, {
      ...{ end: 'stays', shutdown },
      why: `${verdict.message} It stays live: ${why}.`,
    })
  const why = before ? whyNoWayBack(deps, watched) : 'the version before was deleted'
  if (why !== null || !before) {
    await stay(watched, why ?? gone)
    return false
  }
  deps.routing.routeBack(environmentId) // other work may have the containers for now
  storeVerdict(db, watched, verdict)
  const subjects = subjectsOf(deps, { environmentId, releaseId: id })
  const isBack = await revert(deps, watched, {
    commit(tx) {
      storeReverted(tx, watched, verdict, { figures: figuresOf(deps.logDb, watched) })
      noteReverted(tx, id, { verdict, number: before.number })
    },
    shutdown,
  })
  if (!isBack) {
    const now = getWatched(db, id)
    if (now) await stay(now, gone)
    return false
  }
  const written = Promise.all(subjects.map((one) => deps.collector.finish(one.id)))
  logTo(deps, watched, [verdict.message, `Went back to #${before.number}, which is live again.`])
  logs.publish(id, { status: 'failed' })
  logs.publish(before.id, { status: 'running' })
  deps.scheduler.wake() // the commit before may have other schedules
  await written
  return true
}

const revert = (
  deps: WatchDeps,
  { id, environmentId }: Watched,
  how: { commit: (tx: Tx) => void; shutdown: AbortSignal },
) =>
  switchBack(deps, {
    ...how,
    workload: workloadOf(getJob(deps.db, id)!),
    isStill: () =>
      getWatched(deps.db, id) !== undefined && getLiveRelease(deps.db, environmentId)?.id === id,
  })

/** Cancels a version that has a share of the requests. It stays, with all of them, if the one before is gone. */
export async function takeBack(
  deps: WatchDeps,
  watched: Watched,
  { why, shutdown }: { why: string; shutdown: AbortSignal },
) {
  const { db, logs } = deps
  const { id, watch } = watched
  const before = getDeployment(db, watch.before)
  const isBack =
    before &&
    (await revert(deps, watched, {
      commit: (tx) => storeTakenBack(tx, watched, { why, figures: figuresOf(deps.logDb, watched) }),
      shutdown,
    }))
  if (isBack) {
    logTo(deps, watched, [`${why} All requests reach #${before.number} again.`])
    logs.publish(id, { status: 'cancelled' })
    logs.publish(before.id, { status: 'running' })
    deps.scheduler.wake()
    return
  }
  const now = getWatched(db, id)
  if (now)
    await endWatch(deps, now, { end: 'stays', why: `${why} It stays live: ${gone}.`, shutdown })
}

/** Milliseconds until the requests that failed are counted, and what the app wrote is stored. */
const detailsAfter = 2500

/** Milliseconds after the end that its last lines may say. */
const linesWithin = 500

/** Last lines of a container that are shown. */
const lineCount = 10

/** Adds what told: the requests that failed, and the last lines of the new version. */
export async function addDetails(
  deps: WatchDeps,
  watched: Watched,
  { shutdown }: { shutdown: AbortSignal },
) {
  const { id, environmentId, watch } = watched
  const until = Date.now() + linesWithin
  const processes = getJob(deps.db, id)!.environment.processes.map(({ name }) => name)
  await sleep(detailsAfter, undefined, { signal: shutdown }).catch(() => {})
  const requests = await failedOf(deps, environmentId)
  const found = await listLastLines(
    deps,
    { sourceId: environmentId, logId: '' },
    { limit: 500, since: watch.since, until, process: processes },
  )
  const lines = found
    .filter(({ stream, deploymentId }) => stream !== 'system' && deploymentId === id)
    .slice(-lineCount)
    .map(({ text }) => text)
  const reverted = getDeployment(deps.db, id)
  if (!reverted?.watch) return // it was deleted meanwhile
  updateRequests(deps.db, reverted, {
    ...{ requests, lines },
    figures: figuresOf(deps.logDb, watched),
  })
  logTo(
    deps,
    reverted as Watched,
    requests.map(
      ({ status, method, path, count }) =>
        `${counted(count, 'request')}: ${method} ${path} → ${status}`,
    ),
  )
  deps.logs.publish(id, { status: reverted.status })
}

const gone = 'the version before isn’t there any more'

/** There is no going back to worse. Null when requests can go back. */
function whyNoWayBack({ observed, ...deps }: WatchDeps, { environmentId, watch }: Watched) {
  const subjects = subjectsOf(deps, { environmentId, releaseId: watch.before })
  if (subjects.length === 0) return gone
  const conditions = subjects.flatMap(({ id }) => observed.condition(id) ?? [])
  if (watch.share) return null // it gets most requests already
  if (conditions.some(hasEnded)) return 'the version before doesn’t run any more'
  const after = watch.since - Math.max(calm, watch.seconds * 1000)
  return conditions.some((one) => hasCrashed(one, after))
    ? 'the version before had crashed too'
    : null
}

const hasEnded = ({ startedAt, finishedAt }: Condition) =>
  finishedAt !== null && startedAt !== null && finishedAt > startedAt

/** A crash long before the switch tells nothing: the watch must not be harder on one version than on the other. */
const hasCrashed = ({ restartCount, startedAt }: Condition, after: number) =>
  restartCount > 0 && startedAt !== null && startedAt.getTime() > after
