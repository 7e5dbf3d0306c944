import { and, eq, inArray, isNotNull, isNull, lte, not, notInArray, or, sql } from 'drizzle-orm'
import type { Db, Tx } from './index.ts'
import { hasRow, listRows, listValues } from './queries.ts'
import {
  backups,
  deployments,
  jobs,
  plannedDeployments,
  restoredObjects,
  runs,
  services,
  workloads,
} from './schema.ts'

export type Restored = typeof restoredObjects.$inferSelect

/**
 * Records what a database from a backup says is running, for the next server to look for, and the environments that
 * were deployed, of which nothing ran.
 */
export const noteWhatRan = (db: Db) =>
  db.transaction((tx) => {
    const running = eq(deployments.status, 'running')
    const up = inArray(services.status, ['running', 'unhealthy'])
    const deployed = listValues(tx, deployments.environmentId, running)
    const isDown = notInArray(deployments.environmentId, deployed)
    for (const id of listValues(tx, deployments.id, running)) note(tx, 'deployment', id)
    for (const id of listValues(tx, deployments.environmentId, isDown)) note(tx, 'environment', id)
    for (const id of listValues(tx, services.id, up)) note(tx, 'service', id)
  })

const note = (db: Tx, kind: Restored['kind'], objectId: string) =>
  db.insert(restoredObjects).values({ kind, objectId }).run()

export const listRestored = (db: Db, ...kinds: Restored['kind'][]) =>
  listRows(db, restoredObjects, inArray(restoredObjects.kind, kinds))

const appKinds: Restored['kind'][] = ['deployment', 'environment', 'away']

/** What is still looked for. */
export const listSought = (db: Db, kind: 'app' | 'service') =>
  kind === 'app' ? listRestored(db, ...appKinds) : listRestored(db, 'service')

/** Call it when it may be on a server that can’t be reached: until then, what is on the others is observed. */
export const noteAway = (db: Tx, id: string) =>
  void db.update(restoredObjects).set({ kind: 'away' }).where(eq(restoredObjects.id, id)).run()

/** True until it was looked for on the engine: before that, its containers say nothing about what is live. */
export const isAppSought = (db: Tx, environmentId: string) =>
  hasRow(db, restoredObjects, isApp(db, environmentId, ['deployment', 'environment']))

/** True from `noteAway` until it was found: what is there may be newer than the backup. */
export const isAppAway = (db: Tx, environmentId: string) =>
  hasRow(db, restoredObjects, isApp(db, environmentId, ['away']))

function isApp(db: Tx, environmentId: string, kinds: Restored['kind'][]) {
  const { kind, objectId } = restoredObjects
  const ofIt = db
    .select({ id: deployments.id })
    .from(deployments)
    .where(eq(deployments.environmentId, environmentId))
  const isIts = or(eq(objectId, environmentId), inArray(objectId, ofIt))
  return and(inArray(kind, kinds), isIts)
}

/** Call it when another version goes live: what ran before isn’t looked for any more. */
export const forgetApp = (tx: Tx, environmentId: string) =>
  void tx
    .delete(restoredObjects)
    .where(isApp(tx, environmentId, appKinds))
    .run()

/** Call it when the workload was found, or is being redeployed. False when it was forgotten already. */
export const forgetRestored = (db: Tx, id: string) =>
  db.delete(restoredObjects).where(eq(restoredObjects.id, id)).returning().get() !== undefined

/** Records that a backup's databases are to be loaded once its service or environment runs. */
export const noteToLoad = (db: Tx, backupId: string) => note(db, 'backup', backupId)

/** Records that a service is to be started, though it didn't run. */
export const noteToStart = (db: Tx, serviceId: string) => note(db, 'service', serviceId)

const isOfBackup = eq(restoredObjects.kind, 'backup')

/** The backups whose databases haven't been loaded yet. */
export const listToLoad = (db: Tx) =>
  db
    .select({ backup: backups })
    .from(restoredObjects)
    .innerJoin(backups, eq(backups.id, restoredObjects.objectId))
    .where(isOfBackup)
    .all()
    .map(({ backup }) => backup)

/** True for one of them. */
export const isToLoad = (db: Tx, backupId: string) =>
  hasRow(db, restoredObjects, and(isOfBackup, eq(restoredObjects.objectId, backupId)))

/** Call it in the transaction that ends its restore. False when it wasn’t one of the whole server. */
export const forgetToLoad = (db: Tx, backupId: string) =>
  db
    .delete(restoredObjects)
    .where(and(isOfBackup, eq(restoredObjects.objectId, backupId)))
    .returning()
    .all().length > 0

/**
 * What was under way when a backup of Davit was made must not begin again after its restore: it would remove or
 * replace what is newer. The Davit of a move has stood still since, so there is nothing newer than what it planned or
 * queued.
 */
export const endWorkOfThen = (db: Db, { isMove = false } = {}) =>
  db.transaction((tx) => {
    if (!isMove) endDeploymentsOf(tx)
    const ended = inArray(jobs.kind, ['backup', 'proof', 'restore'])
    const restoring = tx.select().from(jobs).where(eq(jobs.kind, 'restore')).all()
    for (const { input } of restoring) endRestoreOf(tx, input ?? '')
    tx.delete(jobs)
      .where(or(ended, inArray(jobs.id, endMovesOf(tx))))
      .run()
    tx.update(backups)
      .set({ status: 'failed', ...unknownEnd, finishedAt: new Date() })
      .where(inArray(backups.status, ['pending', 'running']))
      .run()
  })

/**
 * With runs, and with deployments whose time has come since, or the end of the freeze that they waited for. Those of
 * a freeze that isn't over yet wait on.
 */
function endDeploymentsOf(tx: Tx) {
  const now = new Date()
  const isDue = and(lte(plannedDeployments.at, now), isNull(plannedDeployments.problem))
  tx.update(plannedDeployments).set({ problem: mayHaveRun }).where(isDue).run()
  const isHeld = and(eq(deployments.status, 'waiting'), isNull(deployments.waitUntil))
  const isOver = sql`json_extract(${deployments.freeze}, '$.until') <= ${now.toISOString()}`
  const failed = {
    status: 'failed',
    errorStep: sql`${deployments.status}`,
    finishedAt: now,
  } as const
  tx.update(deployments)
    .set({ ...failed, ...heldUntilUnknown })
    .where(and(isHeld, isOver))
    .run()
  const isUnended = inArray(deployments.status, unendedStatuses)
  tx.update(deployments)
    .set({ ...failed, ...unknownEnd })
    .where(and(isUnended, not(isHeld!)))
    .run()
  tx.update(runs)
    .set({ status: 'failed', ...unknownEnd, finishedAt: now })
    .where(inArray(runs.status, ['pending', 'running']))
    .run()
  tx.delete(jobs)
    .where(inArray(jobs.kind, ['deploy', 'run']))
    .run()
}

/** Repeated, one would write what was there then over what is there now. Returns the ids of their jobs. */
function endMovesOf(tx: Tx) {
  const moved = tx.select().from(workloads).where(isNotNull(workloads.move)).all()
  const ids = moved.map(({ move }) => move!.id)
  tx.update(deployments)
    .set({ status: 'failed', ...unknownEnd, finishedAt: new Date() })
    .where(and(inArray(deployments.id, ids), isNull(deployments.finishedAt)))
    .run()
  const isMoving = and(
    inArray(services.id, tx.select({ id: jobs.subjectId }).from(jobs).where(eq(jobs.kind, 'move'))),
    inArray(services.status, ['pulling', 'creating', 'starting']),
  )
  tx.update(services).set({ status: 'running' }).where(isMoving).run() // it is looked for, and started if need be
  tx.update(workloads).set({ move: null }).run()
  return ids
}

function endRestoreOf(tx: Tx, backupId: string) {
  const isIts = eq(backups.id, backupId)
  const { restore } = tx.select().from(backups).where(isIts).get() ?? {}
  if (!restore) return
  const error = `${unknownEnd.errorMessage} ${unknownEnd.errorHint}`
  tx.update(backups)
    .set({ restore: { ...restore, status: 'failed', error } })
    .where(isIts)
    .run()
}

/** Or was cancelled. What `endWorkOfThen` ended may have gone on, and succeeded since the backup. */
export const hasFailed = ({ status, errorCode }: { status: string; errorCode: string | null }) =>
  status === 'cancelled' || (status === 'failed' && errorCode !== endUnknown)

const endUnknown = 'end_unknown'

const mayHaveRun =
  'Davit was restored from a backup that is older than this time, so it may have run. Plan it again if it didn’t.'

const unendedStatuses = ['waiting', 'pending', 'cloning', 'building', 'deploying'] as const

const heldUntilUnknown = {
  errorCode: endUnknown,
  errorMessage:
    'Davit was restored from a backup that is older than the end of the freeze this waited for, so it may have been deployed then.',
  errorHint: 'Deploy it again if it wasn’t.',
}

const unknownEnd = {
  errorCode: endUnknown,
  errorMessage:
    'Davit was itself restored from a backup that was made meanwhile, so its end is unknown.',
  errorHint: 'Begin it again if you still need it.',
}
