import { and, eq, isNotNull } from 'drizzle-orm'
import type { Config } from '../../config.ts'
import type { Db, LogDb, Tx } from '../../db/index.ts'
import { getRow, listRows } from '../../db/queries.ts'
import { deployments } from '../../db/schema.ts'
import type { Watch, WatchEnd, WatchVerdict } from '../../db/schema.ts'
import { applyCode, getCurrent } from '../../environments/store.ts'
import type { Environment } from '../../environments/store.ts'
import { figuresBefore } from '../../traffic/watched.ts'
import { queueStatus } from '../status-store.ts'
import type { Deployment } from '../store.ts'

type BeginDeps = { db: Db; logDb: LogDb; config: Pick<Config, 'watchSeconds'> }

/** Call it in the transaction that makes another deployment than the current one live. */
export function newWatch({ db, logDb, config }: BeginDeps, environment: Environment) {
  const { id, rollbackOn, watchSeconds } = environment
  const seconds = watchSeconds ?? config.watchSeconds
  const since = Date.now()
  const watch: Watch = {
    ...{ before: getCurrent(db, id)!.id, since, seconds, on: rollbackOn },
    ...{ verdict: null, end: null, why: null, requests: [], lines: [] },
    figures: { before: figuresBefore(logDb, id, since), after: null },
  }
  return { watch, watchUntil: new Date(since + seconds * 1000) }
}

/** A deployment that is watched. */
export type Watched = Deployment & { watch: Watch; watchUntil: Date }

/** Undefined when its watch is over. */
export const getWatched = (db: Tx, id: string) =>
  getRow(db, deployments, and(eq(deployments.id, id), isNotNull(deployments.watchUntil))) as
    Watched | undefined

/** The one of an environment that is watched. */
export const getWatchedOf = (db: Db, environmentId: string) =>
  getRow(
    db,
    deployments,
    and(eq(deployments.environmentId, environmentId), isNotNull(deployments.watchUntil)),
  ) as Watched | undefined

export const listWatched = (db: Db) =>
  listRows(db, deployments, isNotNull(deployments.watchUntil)) as Watched[]

const change = (tx: Tx, { id }: Watched, values: Partial<typeof deployments.$inferInsert>) =>
  tx.update(deployments).set(values).where(eq(deployments.id, id)).run()

/** The clock was set, or it has more to say. */
export const updateWatch = (
  tx: Tx,
  watched: Watched,
  { watchUntil, ...changes }: Partial<Watch> & { watchUntil?: Date },
) =>
  change(tx, watched, {
    watch: { ...watched.watch, ...changes },
    ...(watchUntil && { watchUntil }),
  })

/** What told is known a little later than that it told. */
export const updateRequests = (
  tx: Tx,
  { id, watch }: Deployment,
  changes: Pick<Watch, 'requests' | 'lines' | 'figures'>,
) =>
  tx
    .update(deployments)
    .set({ watch: { ...watch!, ...changes } })
    .where(eq(deployments.id, id))
    .run()

export const storeVerdict = (tx: Tx, watched: Watched, verdict: WatchVerdict) =>
  updateWatch(tx, watched, { verdict })

/** Its step ends with it. */
export function storeEnd(
  tx: Tx,
  watched: Watched,
  { end, ...changes }: Partial<Watch> & { end: WatchEnd },
) {
  change(tx, watched, ended(watched, { end, ...changes }))
}

/** It stays after all, as what replaced it failed. */
export const storeInterrupted = (tx: Tx, { id, watch }: Deployment) =>
  tx
    .update(deployments)
    .set({ watch: { ...watch!, end: 'interrupted' } })
    .where(eq(deployments.id, id))
    .run()

const ended = ({ watch, steps }: Watched, changes: Partial<Watch>) => ({
  watchUntil: null,
  watch: { ...watch, ...changes },
  steps: steps.map((step) => ({
    ...step,
    finishedAt: step.finishedAt ?? new Date().toISOString(),
  })),
})

/** Call it in the transaction that sends requests back: it has failed, and the one before is live again. */
export function storeReverted(
  tx: Tx,
  watched: Watched,
  verdict: WatchVerdict,
  changes: Partial<Watch>,
) {
  const { environmentId, watch } = watched
  change(tx, watched, {
    ...ended(watched, { ...changes, end: 'reverted', verdict }),
    status: 'failed',
    errorStep: 'watching',
    errorCode: verdict.code,
    errorMessage: verdict.message,
    errorHint: verdict.hint,
    finishedAt: new Date(),
  })
  const before = getRow(tx, deployments, eq(deployments.id, watch.before))!
  tx.update(deployments).set({ status: 'running' }).where(eq(deployments.id, before.id)).run()
  applyCode(tx, environmentId, before.codeSettings)
  for (const { id } of [watched, before]) queueStatus(tx, id)
}
