import type { Db } from '../../db/index.ts'
import { asWriter } from '../../db/queries.ts'
import type { MetFreeze, WatchEnd } from '../../db/schema.ts'
import { applyCode, getEnvironmentIn } from '../../environments/store.ts'
import { report } from '../../platform/journal.ts'
import { stopStandby } from '../../runtime/standby.ts'
import { noteSuccess } from '../notices.ts'
import { promotedIn, promoteNext } from '../promote.ts'
import type { Promoted } from '../promote.ts'
import { getCurrent, getJob, getStatus, updateDeployment } from '../store.ts'
import { workloadOf } from '../steps/deploy.ts'
import { publishSuperseded, say } from '../waiting-store.ts'
import { figuresOf, promoteShare, storeEnd, updateWatch } from './store.ts'
import type { Watched } from './store.ts'
import type { WatchDeps } from '../context.ts'
import { failedOf } from './view.ts'

type Ending = {
  end: Exclude<WatchEnd, 'reverted' | 'cancelled'>
  /** Who ended it. */
  by?: string | undefined
  /** Why it stays although it failed. */
  why?: string | undefined
}

/** The new version stays: what would have taken over is stopped, and those that follow it get it. */
export async function endWatch(deps: WatchDeps, watched: Watched, { end: asked, by, why }: Ending) {
  const { db, logs, scheduler, shutdown } = deps
  const { id, environmentId, codeSettings } = watched
  const job = getJob(db, id)!
  const requests = why === undefined ? [] : await failedOf(deps, environmentId)
  const { end, promoted } = db.transaction((tx) => {
    // what was stopped, by whomever, is nothing to promote by itself
    const isStopped = why === undefined && getStatus(db, id) === 'stopped'
    const end = isStopped ? 'stopped' : asked
    if (watched.watch.share) applyCode(tx, environmentId, codeSettings) // it has all requests now
    storeEnd(tx, watched, {
      ...{ end, why: why ?? null },
      figures: figuresOf(deps.logDb, watched),
      requests,
    })
    return { end, promoted: unpromoted.has(end) ? [] : promoteNext(db, job) }
  })
  say(deps, watched, endsIn({ end, by, why }), ...promoted.map(promotedIn))
  deps.routing.route({ id: environmentId, kind: 'app' }) // while it was watched, no page replaced it
  logs.publish(id, { status: job.deployment.status })
  scheduler.wake() // its commit may have other schedules
  publishPromoted(deps, promoted)
  if (asked === 'replaced') return // what replaces it stops the one before, or starts from it
  await stopStandby(deps, { workload: workloadOf(job), signal: shutdown }).catch((error) => {
    if (shutdown.aborted) return // the next process does it
    report('a version that was kept could not be stopped', error, { environment: environmentId })
  })
}

/** Call it after the transaction that promoted them. */
export function publishPromoted(deps: WatchDeps, promoted: Promoted[]) {
  for (const { queued } of promoted) if (queued) publishSuperseded(deps, queued)
  if (promoted.length > 0) deps.jobs.wake()
}

/** `replaced` is promoted if what replaces it fails. */
const unpromoted = new Set<WatchEnd>(['replaced', 'stopped', 'stays'])

function endsIn({ end, by, why }: Pick<Ending, 'end' | 'by' | 'why'>) {
  if (why !== undefined) return why
  if (end === 'over' || end === 'stays') return 'The watch is over: this version stays.'
  return end === 'kept'
    ? `The watch was ended${by ? ` by ${by}` : ''}: this version stays.`
    : `The watch ended, because the version is ${doing[end]}.`
}

const doing = { replaced: 'being changed', interrupted: 'being restarted', stopped: 'stopped' }

/**
 * The version whose watch a deployment ended stays, as that deployment failed. Call it in the transaction that
 * stores the failure; publish what it returns.
 */
export function promoteStayed(db: Db, environmentId: string) {
  const current = getCurrent(db, environmentId)
  if (current?.status !== 'running' || current.watch?.end !== 'replaced') return []
  updateWatch(db, current, { end: 'interrupted' })
  return promoteNext(db, getJob(db, current.id)!)
}

/** The same where what ended its watch ended so itself: one that is being replaced or stopped isn't promoted. */
export function settleStayed(db: Db, environmentId: string, end: WatchEnd) {
  if (end === 'replaced') return []
  if (end !== 'stopped') return promoteStayed(db, environmentId)
  const current = getCurrent(db, environmentId)
  if (current?.watch?.end === 'replaced') updateWatch(db, current, { end })
  return []
}

type Promotion = { by: string | undefined; freeze: MetFreeze | null }

/** Gives a version that has a share of the requests all of them, if it runs. Its watch goes on, unless its time is 0. */
export async function promote(deps: WatchDeps, watched: Watched, { by, freeze }: Promotion) {
  const { db, logs, routing, scheduler } = deps
  const { id, environmentId, watch } = watched
  if (!watch.share) return
  const now = asWriter(db, () => {
    if (getStatus(db, id) !== 'running') return null
    const { environment } = getEnvironmentIn(db, environmentId)!
    noteSuccess(db, id)
    if (freeze) updateDeployment(db, id, { freeze: withNotes(watched, freeze) })
    return promoteShare(deps, watched, environment)
  })
  if (!now) return
  routing.route({ id: environmentId, kind: 'app' })
  scheduler.wake() // its commit may have other schedules
  say(deps, now, `Promoted${by ? ` by ${by}` : ''}: all requests reach this version.`)
  logs.publish(id, { status: now.status })
  if (now.watch.seconds === 0) await endWatch(deps, now, { end: 'over' })
}

/** One that was deployed in a freeze, too, keeps the note that this was done for. */
function withNotes({ freeze: earlier }: Watched, freeze: MetFreeze): MetFreeze {
  const notes = new Set([earlier?.note, freeze.note].flatMap((one) => one ?? []))
  return { ...freeze, note: notes.size > 0 ? [...notes].join('; ') : null }
}

/** Why a version lost its share of the requests. */
export function whyTakenBack(end: string, by: string | undefined) {
  if (end === 'cancelled') return `Taken back${by ? ` by ${by}` : ''}.`
  return end === 'over'
    ? 'Taken back: it wasn’t promoted within 24 hours.'
    : 'Taken back, because the app is being changed.'
}
