import { and, eq, gt, isNotNull, sql } from 'drizzle-orm'
import type { Config } from '../../config.ts'
import type { Db, LogDb, Tx } from '../../db/index.ts'
import { getRow, listRows } from '../../db/queries.ts'
import { deployments } from '../../db/schema.ts'
import type { Share, Watch, WatchEnd, WatchVerdict } from '../../db/schema.ts'
import { applyCode, getCurrent } from '../../environments/store.ts'
import type { Environment } from '../../environments/store.ts'
import { shareCount } from '../../edge/shares.ts'
import { shareImpossible } from '../../runtime/routing.ts'
import { shareLimits } from '../../platform/limits.ts'
import { figuresBefore, figuresSince } from '../../traffic/watched.ts'
import { queueStatus } from '../status-store.ts'
import type { Deployment } from '../store.ts'

type BeginDeps = { db: Db; logDb: LogDb; config: Pick<Config, 'watchSeconds'> }

/** Call it in the transaction that makes another deployment than the current one live. */
export function newWatch(
  { db, logDb, config }: BeginDeps,
  environment: Environment,
  share: Share | null,
) {
  const { id, rollbackOn } = environment
  const seconds = share ? shareLimits.seconds : watchSecondsOf(environment, config)
  const since = Date.now()
  const watch: Watch = {
    ...{ before: getCurrent(db, id)!.id, since, seconds, on: rollbackOn },
    ...{ verdict: null, end: null, why: null, requests: [], lines: [] },
    share: share && { ...share, slot: freeSlot(db) },
    figures: { before: beforeSwitch({ db, logDb }, id, since), after: null },
  }
  return { watch, watchUntil: new Date(since + seconds * 1000) }
}

/** `without` are times of more versions whose requests don't count. */
function beforeSwitch(
  { db, logDb }: Pick<BeginDeps, 'db' | 'logDb'>,
  sourceId: string,
  since: number,
  without: number[] = [],
) {
  const hasEnded = gt(deployments.finishedAt, new Date(since - 3_600_000))
  const isOf = and(eq(deployments.environmentId, sourceId), isNotNull(deployments.watch))
  const takenBack = listRows(db, deployments, and(isOf, hasEnded)).flatMap(({ watch }) =>
    isTakenBack(watch!) ? watch!.since : [],
  )
  return figuresBefore(logDb, { sourceId, since, without: [...takenBack, ...without] })
}

/** Requests reach the version before again. */
export const isTakenBack = ({ end }: Watch) => end === 'reverted' || end === 'cancelled'

/** 0 for none. */
export const watchSecondsOf = (
  { watchSeconds }: Pick<Environment, 'watchSeconds'>,
  config: BeginDeps['config'],
) => watchSeconds ?? config.watchSeconds

/** Numbers of the edge that no share has. */
export function listFreeSlots(db: Db) {
  const taken = new Set(listWatched(db).map(({ watch }) => watch.share?.slot))
  return Array.from({ length: shareCount }, (_, slot) => slot).filter((slot) => !taken.has(slot))
}

/** Any of them: a request may still be on its way through the last one that was given back. */
function freeSlot(db: Db) {
  const free = listFreeSlots(db)
  const slot = free[Math.floor(Math.random() * free.length)]
  if (slot !== undefined) return slot
  throw shareImpossible(sharesFull)
}

export const sharesFull = `All ${shareCount} shares of requests that this server can have are in use.`

/**
 * It gets all requests now, and is watched from now on as without a share; not with a time of 0. Call it in a
 * transaction, in which its watch ends then.
 */
export function promoteShare(
  { db, logDb, config }: BeginDeps,
  watched: Watched,
  environment: Environment,
) {
  const { id: environmentId } = environment
  const seconds = watchSecondsOf(environment, config)
  const since = Date.now()
  const before = beforeSwitch({ db, logDb }, environmentId, since, [watched.watch.since])
  const figures = { before, after: null }
  applyCode(db, environmentId, watched.codeSettings)
  updateWatch(db, watched, {
    ...{ share: null, since, seconds, figures },
    watchUntil: new Date(since + seconds * 1000),
  })
  return getWatched(db, watched.id)!
}

/** What both versions did so far: that before it at the same time, or in the hour before the switch. */
export function figuresOf(
  logDb: LogDb,
  { environmentId, watch: { share, since, figures } }: Pick<Watched, 'environmentId' | 'watch'>,
) {
  const of = (version?: 'new' | 'before') => figuresSince(logDb, environmentId, since, version)
  return share
    ? { before: of('before'), after: of('new') }
    : { before: figures.before, after: of() }
}

/** A deployment that is watched. */
export type Watched = Deployment & { watch: Watch; watchUntil: Date }

const isWatched = isNotNull(deployments.watchUntil)

/** Undefined when its watch is over. */
export const getWatched = (db: Tx, id: string) =>
  getRow(db, deployments, and(eq(deployments.id, id), isWatched)) as Watched | undefined

/** The one of an environment that is watched. */
export const getWatchedOf = (db: Db, id: string) =>
  getRow(db, deployments, and(eq(deployments.environmentId, id), isWatched)) as Watched | undefined

export const listWatched = (db: Db) => listRows(db, deployments, isWatched) as Watched[]

/** Those that went back, of which people weren't told yet. */
export const listUntold = (db: Db) =>
  listRows(
    db,
    deployments,
    and(
      eq(deployments.errorStep, 'watching'), // most have no watch to read
      sql`json_extract(${deployments.watch}, '$.isTold') = 0`,
    ),
  )

type Values = Partial<typeof deployments.$inferInsert>

const change = (tx: Tx, { id }: Pick<Deployment, 'id'>, values: Values) =>
  tx.update(deployments).set(values).where(eq(deployments.id, id)).run()

/** Of one that ended, too: what told is known a little later than that it told. */
export const updateWatch = (
  tx: Tx,
  { id, watch }: Pick<Deployment, 'id' | 'watch'>,
  { watchUntil, ...changes }: Partial<Watch> & { watchUntil?: Date },
) => change(tx, { id }, { watch: { ...watch!, ...changes }, ...(watchUntil && { watchUntil }) })

/** Its step ends with it. */
export const storeEnd = (tx: Tx, watched: Watched, changes: Partial<Watch> & { end: WatchEnd }) =>
  change(tx, watched, ended(watched, changes))

const ended = ({ watch, steps }: Watched, changes: Partial<Watch>) => ({
  watchUntil: null,
  watch: { ...watch, ...changes },
  steps: steps.map((step) => ({
    ...step,
    finishedAt: step.finishedAt ?? new Date().toISOString(),
  })),
})

/**
 * Call it in the transaction that sends requests back: it has failed, and the one before is live again. Its
 * commit's status follows once it is known what told.
 */
export const storeReverted = (
  tx: Tx,
  watched: Watched,
  verdict: WatchVerdict,
  changes: Partial<Watch>,
) =>
  giveBack(tx, watched, {
    ...ended(watched, { ...changes, end: 'reverted', verdict, isTold: false }),
    status: 'failed',
    errorStep: 'watching',
    errorCode: verdict.code,
    errorMessage: verdict.message,
    errorHint: verdict.hint,
  })

/** Call it in the transaction that takes its share of the requests back. */
export function storeTakenBack(tx: Tx, watched: Watched, changes: Partial<Watch>) {
  giveBack(tx, watched, {
    ...ended(watched, { ...changes, end: 'cancelled' }),
    status: 'cancelled',
  })
  queueStatus(tx, watched.id)
}

function giveBack(tx: Tx, watched: Watched, values: Values & { status: 'failed' | 'cancelled' }) {
  const { environmentId, watch } = watched
  change(tx, watched, { ...values, finishedAt: new Date() })
  const before = getRow(tx, deployments, eq(deployments.id, watch.before))!
  change(tx, before, { status: 'running' })
  applyCode(tx, environmentId, before.codeSettings)
  queueStatus(tx, before.id)
}
