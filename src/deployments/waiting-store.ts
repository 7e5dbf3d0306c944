import {
  and,
  asc,
  count,
  desc,
  eq,
  inArray,
  isNotNull,
  isNull,
  lt,
  ne,
  notExists,
  or,
} from 'drizzle-orm'
import type { Db, LogDb } from '../db/index.ts'
import { asWriter, getRow } from '../db/queries.ts'
import { deployments, environments, projects, releases } from '../db/schema.ts'
import type { MetFreeze } from '../db/schema.ts'
import type { Freeze } from '../environments/freeze-store.ts'
import type { Environment } from '../environments/store.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { endJobs, insertJob } from '../jobs/store.ts'
import { LogWriter } from '../logs/log-writer.ts'
import type { Logs } from '../logs/logs.ts'
import { deleteSome } from '../logs/store.ts'
import { report } from '../platform/journal.ts'
import type { Project } from '../projects/store.ts'
import {
  insertDeployment,
  logOf,
  moveDeployment,
  queuedStatuses,
  unended,
  updateDeployment,
} from './store.ts'
import type { Deployment } from './store.ts'

/** Kept per environment: deployments that ended before they started. */
const neverBegunKept = 500

/** In milliseconds: how long a commit waits for its checks. */
const checksTimeout = 3_600_000

/** Call it in a transaction. One that waits for checks, or the end of a freeze, gets its job when it starts. */
export function insertWaiting(
  db: Db,
  {
    ownerId,
    input = null,
    waitsForChecks = false,
    ...values
  }: Omit<typeof deployments.$inferInsert, 'status' | 'number'> & {
    ownerId: string
    input?: string | null | undefined
    waitsForChecks?: boolean | undefined
  },
): Deployment {
  const waitUntil = waitsForChecks ? new Date(Date.now() + checksTimeout) : null
  const waits = waitsForChecks || values.freeze?.note === null
  const deployment = insertDeployment(db, {
    ...values,
    ...(waits && { status: 'waiting' as const, waitUntil }),
  })
  if (!waits) insertDeployJob(db, deployment, { ownerId, input })
  return deployment
}

function insertDeployJob(
  db: Db,
  deployment: Deployment,
  more: { ownerId: string; input: string | null },
) {
  const { id, environmentId: subjectId } = deployment
  insertJob(db, { id, kind: 'deploy', subjectId, slot: slotFor(deployment), ...more })
}

/** Queues it. Null when it doesn't wait anymore. */
export const startWaiting = (
  db: Db,
  { deployment, ownerId }: { deployment: Deployment; ownerId: string },
) =>
  asWriter(db, () => {
    const { id } = deployment
    if (!moveDeployment(db, { id, from: ['waiting'], status: 'pending' })) return null
    insertDeployJob(db, deployment, { ownerId, input: null })
    return supersedeOlder(db, { ...deployment, status: 'pending' })
  })

/** One without a note waits for its end. */
export const met = ({ reason, until }: Freeze, note: string | null = null): MetFreeze => ({
  ...{ reason, note },
  until: until.toISOString(),
})

/** From now on only for the end of the freeze. */
export const holdWaiting = (db: Db, { id }: Pick<Deployment, 'id'>, freeze: Freeze) =>
  updateDeployment(db, id, { waitUntil: null, freeze: met(freeze) })

/** Those that wait only for the end of a freeze, oldest first. */
export const listHeld = (db: Db) =>
  db
    .select({ held: deployments, ownerId: projects.ownerId })
    .from(deployments)
    .innerJoin(projects, eq(projects.id, deployments.projectId))
    .innerJoin(environments, eq(environments.id, deployments.environmentId))
    .where(
      and(
        eq(deployments.status, 'waiting'),
        isNull(deployments.waitUntil),
        isNotNull(deployments.freeze),
        isNull(projects.deletingAt),
        isNull(environments.deletingAt),
      ),
    )
    .orderBy(asc(deployments.id))
    .all()

/** False when it doesn't wait anymore. `note` runs in the transaction that stores the end. */
export function endWaiting(
  deps: { db: Db; logDb: LogDb; logs: Logs },
  { id, environmentId }: Deployment,
  end: { status: 'failed' | 'cancelled' } & Partial<Deployment>,
  { line, note }: { line: string; note?: (db: Db) => void },
): boolean {
  const isEnded = asWriter(deps.db, () => {
    const changes = { ...end, finishedAt: new Date() }
    const isMoved = moveDeployment(deps.db, { id, from: ['waiting'], ...changes })
    if (isMoved) note?.(deps.db)
    return isMoved
  })
  if (!isEnded) return false
  say(deps, { id, environmentId }, line)
  deps.logs.publish(id, { status: end.status })
  return true
}

/** A deployment with an existing image, or one to pull, needs no build slot. */
export const slotFor = ({ image, pullReference }: Deployment) =>
  image === null && pullReference === null ? ('build' as const) : null

/** Excludes the environment's own, and those that wait for the end of a freeze: at most one of each environment. */
export const countOthersWaiting = (
  db: Db,
  { project, environment }: { project: Project; environment: Environment },
) =>
  db
    .select({ rows: count() })
    .from(deployments)
    .innerJoin(projects, eq(projects.id, deployments.projectId))
    .where(
      and(
        inArray(deployments.status, [...queuedStatuses]),
        eq(projects.ownerId, project.ownerId),
        ne(deployments.environmentId, environment.id),
        or(ne(deployments.status, 'waiting'), isNotNull(deployments.waitUntil)),
      ),
    )
    .get()!.rows

/** Call it after the commit. */
export function publishStarted(
  deps: { db: Db; logDb: LogDb; logs: Logs; jobs: Jobs },
  queued: Queued,
  why: string,
) {
  const { deployment } = queued
  say(deps, deployment, why)
  deps.logs.publish(deployment.id, { status: 'pending' })
  publishSuperseded(deps, queued)
  deps.jobs.wake()
}

/** Where nothing else writes to its log. */
export function say(
  deps: { logDb: LogDb; logs: Logs },
  deployment: Pick<Deployment, 'id' | 'environmentId'>,
  ...lines: string[]
) {
  const log = new LogWriter(deps, logOf(deployment))
  for (const line of lines) log.write(line)
  log.end()
}

export type Queued = { deployment: Deployment; superseded: Deployment[] }

/**
 * Only the newest queued deployment of an environment is worth running. One that still waits for its checks may
 * never run, so it replaces only others that wait; and changed settings replace no commit that does.
 */
export const supersedeOlder = (
  db: Db,
  deployment: Deployment,
  replaced = replacedBy(deployment),
): Queued =>
  db.transaction(() => {
    const superseded = db
      .update(deployments)
      .set({ status: 'superseded', finishedAt: new Date() })
      .where(
        and(
          eq(deployments.environmentId, deployment.environmentId),
          inArray(deployments.status, replaced),
          lt(deployments.id, deployment.id),
        ),
      )
      .returning()
      .all()
    endJobs(
      db,
      superseded.map(({ id }) => id),
    )
    return { deployment, superseded }
  })

const replacedBy = (deployment: Deployment): Deployment['status'][] => {
  if (deployment.status === 'waiting') return ['waiting']
  return appliesSettings(deployment) ? ['pending'] : [...queuedStatuses]
}

/** With the image that is live, so another commit that is queued is still to come. */
export const appliesSettings = ({ imageOf, trigger }: Deployment) =>
  imageOf !== null && (trigger === 'manual' || trigger === 'api')

/**
 * Publishes superseded deployments, and deletes old ones, as a burst of pushes can leave many. Call it after
 * the commit.
 */
export function publishSuperseded(
  deps: { db: Db; logDb: LogDb; logs: Logs },
  { deployment: { environmentId }, superseded }: Queued,
) {
  for (const one of superseded) {
    say(deps, one, 'A newer deployment of this environment superseded it while queued.')
    deps.logs.publish(one.id, { status: 'superseded' })
  }
  try {
    for (const { id } of forgetNeverBegun(deps.db, environmentId))
      deleteSome(deps.logDb, { logId: id })
  } catch (error) {
    report('old deployments were not deleted', error, { environment: environmentId })
  }
}

/** Deletes the environment's deployments that ended before they started, except the newest. Returns them. */
function forgetNeverBegun(db: Db, environmentId: string) {
  const neverBegun = and(
    eq(deployments.environmentId, environmentId),
    inArray(deployments.status, ['superseded', 'cancelled']),
    eq(deployments.steps, []),
    notExists(db.select({ id: releases.id }).from(releases).where(eq(releases.id, deployments.id))),
  )
  const [oldestKept] = db
    .select({ id: deployments.id })
    .from(deployments)
    .where(neverBegun)
    .orderBy(desc(deployments.id))
    .limit(1)
    .offset(neverBegunKept - 1)
    .all()
  if (!oldestKept) return []
  return db
    .delete(deployments)
    .where(and(neverBegun, lt(deployments.id, oldestKept.id)))
    .returning({ id: deployments.id })
    .all()
}

/** One that is queued or being built, and is to get a share of the requests. */
export const getUnendedShare = (db: Db, environmentId: string) =>
  getRow(
    db,
    deployments,
    and(
      eq(deployments.environmentId, environmentId),
      inArray(deployments.status, unended),
      isNotNull(deployments.share),
    ),
  )
