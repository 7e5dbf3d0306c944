import { retryOnDiskFull } from '../../db/failures.ts'
import type { Watch } from '../../db/schema.ts'
import { waitForEngine } from '../../docker/retry-while-engine-down.ts'
import { getDeployment } from '../../environments/store.ts'
import { listLastLines } from '../../logs/read-log.ts'
import { sleepUpTo, unlessAborted } from '../../platform/pause.ts'
import { requestsInWords } from '../../notifications/evidence.ts'
import { keyOf, listInstancesOfRelease } from '../../runtime/store.ts'
import { noteReverted } from '../notices.ts'
import { queueStatus } from '../status-store.ts'
import type { Deployment } from '../store.ts'
import type { WatchDeps } from '../context.ts'
import { say } from '../waiting-store.ts'
import { figuresOf, getWatchedOf, updateWatch } from './store.ts'
import { failedOf } from './view.ts'

/**
 * More milliseconds until they are counted, and until the engine responds: both begin late where Davit has just
 * started on a busy machine.
 */
const knownWithin = 15_000

/** Milliseconds after the end that its last lines may say. */
const linesWithin = 500

/** Last lines of a container that are shown. */
const lineCount = 10

/**
 * Stores what told against a version that went back, the requests that failed and its last lines, and tells people.
 * Can be repeated after a kill, which loses requests that were not stored yet; where Davit stops, the next one does it.
 */
export async function tellReverted(deps: WatchDeps, id: string) {
  const { db, shutdown } = deps
  const read = readOutput(deps, id).catch(() => {}) // at once, as its containers go
  await sleepUpTo(deps.watched.loggedWithin, shutdown)
  await untilCounted(deps, id)
  await unlessAborted(read, shutdown).catch(() => {})
  const reverted = getDeployment(db, id)
  if (!reverted?.watch) return // it was deleted meanwhile
  const { environmentId, createdAt, finishedAt, watch } = reverted
  // people are told in any case
  const isReplaced = getWatchedOf(db, environmentId) !== undefined // they would be those of another version
  const seen = isReplaced ? [] : await failedOf(deps, environmentId).catch(() => [])
  const requests = seen.length > 0 ? seen : watch.requests
  if (shutdown.aborted) {
    updateWatch(db, reverted, { requests }) // the next process doesn't know them
    return
  }
  const until = finishedAt!.getTime()
  const lines = await lastLines(deps, { id, environmentId, createdAt, until }).catch(() => [])
  const changes = { requests, lines, figures: figuresOf(deps.logDb, { environmentId, watch }) }
  await retryOnDiskFull(
    async () =>
      db.transaction((tx) => {
        updateWatch(tx, reverted, { ...changes, isTold: true })
        queueStatus(tx, id)
        noteReverted(tx, id, { ...watch, ...changes })
      }),
    { signal: shutdown },
  )
  const told = [...requests.map(requestsInWords), ...lines.map((line) => `It wrote: ${line}`)]
  say(deps, reverted, ...told)
  deps.logs.publish(id, { status: reverted.status })
}

/** People are told anyway. */
async function untilCounted({ db, watched, shutdown }: WatchDeps, id: string) {
  const { finishedAt } = getDeployment(db, id) ?? {}
  if (!finishedAt) return
  const signal = AbortSignal.any([shutdown, AbortSignal.timeout(knownWithin)])
  await watched.countedUntil(finishedAt.getTime(), { signal }).catch(() => {})
}

/** What its containers wrote last may not be stored yet; that of removed ones is. */
async function readOutput(deps: WatchDeps, id: string) {
  const { db, docker, engines, collector, shutdown } = deps
  const signal = AbortSignal.any([shutdown, AbortSignal.timeout(knownWithin)])
  await waitForEngine(docker, { signal })
  const keys = listInstancesOfRelease(db, id).flatMap((one) => keyOf(one) ?? [])
  const read = keys.map(async (key) => {
    await engines.tried(key, { signal }).catch(() => {}) // another server is reached a moment after the start
    await collector.finish(key)
  })
  await Promise.all(read)
}

type Reverted = Pick<Deployment, 'id' | 'environmentId' | 'createdAt'> & { until: number }

/** The version before writes to the same log, also while that Davit is down in which this one ended. */
async function lastLines(
  deps: WatchDeps,
  { id, environmentId, createdAt, until }: Reverted,
): Promise<Watch['lines']> {
  const found = await listLastLines(
    deps,
    { sourceId: environmentId, logId: '' },
    {
      limit: 500,
      deploymentId: id,
      since: createdAt.getTime(),
      until: until + linesWithin,
    },
  )
  return found
    .filter(({ stream }) => stream !== 'system')
    .slice(-lineCount)
    .map(({ text }) => text)
}
