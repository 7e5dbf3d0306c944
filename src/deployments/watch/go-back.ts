import type { Tx } from '../../db/index.ts'
import type { WatchEnd, WatchVerdict } from '../../db/schema.ts'
import { calm } from '../../runtime/crash-count.ts'
import type { Condition } from '../../runtime/observed-containers.ts'
import { getLiveRelease } from '../../runtime/store.ts'
import { switchBack } from '../../runtime/standby.ts'
import { getDeployment } from '../../environments/store.ts'
import { getJob, getStatus } from '../store.ts'
import type { Deployment } from '../store.ts'
import { workloadOf } from '../steps/deploy.ts'
import { promotedIn } from '../promote.ts'
import { say } from '../waiting-store.ts'
import type { Promoted } from '../promote.ts'
import { endWatch, publishPromoted, settleStayed, whyTakenBack } from './end.ts'
import { figuresOf, getWatched, storeReverted, storeTakenBack, updateWatch } from './store.ts'
import type { Watched } from './store.ts'
import { subjectsOf } from './subjects.ts'
import { failedOf } from './view.ts'
import type { WatchDeps } from '../context.ts'

/**
 * Sends requests back to the version before, at once, and stores the decision, so that the next process carries it
 * out if this one is killed. Returns false when the new version stays.
 */
export async function goBack(deps: WatchDeps, watched: Watched, verdict: WatchVerdict) {
  const { db, routing } = deps
  const { environmentId } = watched
  const { message } = verdict
  const why = whyNoWayBack(deps, watched)
  if (why !== null) {
    await stay(deps, watched, { message, why })
    return false
  }
  // other work may have the containers for now
  const wentBackAt = routing.routeBack(environmentId)
    ? deps.watched.wentBack(environmentId, Date.now())
    : undefined
  updateWatch(db, watched, { verdict, wentBackAt })
  // more are known when it is told, and nothing may hold up going back
  const requests = await failedOf(deps, environmentId).catch(() => [])
  return revert(deps, watched, {
    message,
    end: 'reverted',
    commit(tx) {
      const figures = figuresOf(deps.logDb, watched)
      storeReverted(tx, watched, verdict, { requests, figures, wentBackAt })
    },
    linesOf: ({ number }) => [message, `Went back to #${number}, which is live again.`],
  })
}

type TakenBack = { end: Exclude<WatchEnd, 'reverted' | 'stays'>; by: string | undefined }

/**
 * Ends a share of the requests. Without the version before the new one stays, with all of them; also where that has
 * stopped meanwhile, unless someone takes it back.
 */
export async function takeBack(deps: WatchDeps, watched: Watched, { end, by }: TakenBack) {
  if (end !== 'cancelled') {
    const stays = whyNoWayBack(deps, watched)
    if (stays !== null && end === 'over')
      return stay(deps, watched, { message: 'Its 24 hours are over.', why: stays })
    if (stays !== null) return endWatch(deps, watched, { end })
  }
  const why = whyTakenBack(end, by)
  await revert(deps, watched, {
    message: why,
    end,
    commit: (tx) => storeTakenBack(tx, watched, { why, figures: figuresOf(deps.logDb, watched) }),
    linesOf: ({ number }) => [`${why} All requests reach #${number} again.`],
  })
}

type Revert = {
  message: string
  end: WatchEnd
  commit: (tx: Tx) => void
  /** For the log. */
  linesOf: (before: Deployment) => string[]
}

/** Makes the version before live. Returns false where there is none any more: the new one stays. */
async function revert(
  deps: WatchDeps,
  watched: Watched,
  { message, end, commit, linesOf }: Revert,
) {
  const { db, logs, scheduler, shutdown } = deps
  const { id, environmentId, watch } = watched
  const before = getDeployment(db, watch.before)
  let promoted: Promoted[] = []
  const isBack =
    before &&
    (await switchBack(deps, {
      workload: workloadOf(getJob(db, id)!),
      isStill: () =>
        getWatched(db, id) !== undefined && getLiveRelease(db, environmentId)?.id === id,
      commit(tx) {
        commit(tx)
        promoted = settleStayed(db, environmentId, end)
      },
      shutdown,
    }))
  if (!isBack) {
    const now = getWatched(db, id)
    if (now) await stay(deps, now, { message, why: gone })
    return false
  }
  say(deps, watched, ...linesOf(before), ...promoted.map(promotedIn))
  publishPromoted(deps, promoted)
  for (const one of [id, before.id]) logs.publish(one, { status: getStatus(db, one)! })
  scheduler.wake() // the commit before may have other schedules
  return true
}

const stay = (
  deps: WatchDeps,
  watched: Watched,
  { message, why }: { message: string; why: string },
) => endWatch(deps, watched, { end: 'stays', why: `${message} It stays live: ${why}.` })

const gone = 'the version before isn’t there any more'
const stopped = 'the version before doesn’t run any more'

/** There is no going back to worse. Null when requests can go back. */
function whyNoWayBack({ observed, ...deps }: WatchDeps, { environmentId, watch }: Watched) {
  if (!getDeployment(deps.db, watch.before)) return 'the version before was deleted'
  const subjects = subjectsOf(deps, { environmentId, releaseId: watch.before })
  if (subjects.length === 0) return gone
  const conditions = subjects.flatMap(({ id }) => observed.condition(id) ?? [])
  // one that starts again soon gets most requests already
  const isOver = conditions.length > 0 && conditions.every(({ state }) => state === 'exited')
  if (watch.share) return isOver ? stopped : null
  if (conditions.some(hasEnded)) return stopped
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
