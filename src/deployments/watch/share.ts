import { getEnvironmentIn } from '../../environments/store.ts'
import { noteSuccess } from '../notices.ts'
import { endWatch, logTo } from './end.ts'
import { promoteShare } from './store.ts'
import type { Watched } from './store.ts'
import type { WatchDeps } from '../context.ts'

/** Gives a version that has a share of the requests all of them. Its watch goes on, unless its time is 0. */
export async function promote(deps: WatchDeps, watched: Watched, by: string | undefined) {
  const { db, logs, routing, scheduler } = deps
  const { id, environmentId, watch } = watched
  if (!watch.share) return
  const now = db.transaction(
    () => {
      const { environment } = getEnvironmentIn(db, environmentId)!
      noteSuccess(db, id)
      return promoteShare(deps, watched, environment)
    },
    { behavior: 'immediate' },
  )
  routing.route({ id: environmentId, kind: 'app' })
  scheduler.wake() // its commit may have other schedules
  logTo(deps, now, [`Promoted${by ? ` by ${by}` : ''}: all requests reach this version.`])
  logs.publish(id, { status: now.status })
  if (now.watch.seconds === 0) await endWatch(deps, now, { end: 'over' })
}

/** Why a version lost its share of the requests. */
export function whyTakenBack(end: string, by: string | undefined) {
  if (end === 'cancelled') return `Taken back${by ? ` by ${by}` : ''}.`
  return end === 'over'
    ? 'Taken back: it wasn’t promoted within 24 hours.'
    : 'Taken back, because the app is being changed.'
}
