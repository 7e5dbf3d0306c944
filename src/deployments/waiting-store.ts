import { and, count, desc, eq, inArray, lt, ne, notExists } from 'drizzle-orm'
import type { Db, LogDb } from '../db/index.ts'
import { deployments, projects, releases } from '../db/schema.ts'
import type { Environment } from '../environments/store.ts'
import { endJobs, insertJob } from '../jobs/store.ts'
import { LogWriter } from '../logs/log-writer.ts'
import type { Logs } from '../logs/logs.ts'
import { deleteSome } from '../logs/store.ts'
import { report } from '../platform/journal.ts'
import type { Project } from '../projects/store.ts'
import { insertDeployment, logOf, moveDeployment, queuedStatuses } from './store.ts'
import type { Deployment } from './store.ts'

/** Kept per environment: deployments that ended before they started. */
const neverBegunKept = 500

/** In milliseconds: how long a commit waits for its checks. */
const checksTimeout = 3_600_000

/** Call it in a transaction. One that waits for checks gets its job when it starts. */
export function insertWaiting(
  db: Db,
  {
    ownerId,
    input = null,
    waitsForChecks = false,
    ...values
  }: Omit<typeof deployments.$inferInsert, 'status' | 'number'> & {
    ownerId: string
    /** The input of the job. */
    input?: string | null | undefined
    waitsForChecks?: boolean | undefined
  },
): Deployment {
  const waits = {
    status: 'waiting' as const,
    waitUntil: new Date(Date.now() + checksTimeout),
  }
  const deployment = insertDeployment(db, { ...values, ...(waitsForChecks && waits) })
  if (!waitsForChecks) insertDeployJob(db, deployment, { ownerId, input })
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
  db.transaction(
    () => {
      const { id } = deployment
      if (!moveDeployment(db, { id, from: ['waiting'], status: 'pending' })) return null
      insertDeployJob(db, deployment, { ownerId, input: null })
      return supersedeOlder(db, { ...deployment, status: 'pending' })
    },
    { behavior: 'immediate' },
  )

/** False when it doesn't wait for checks anymore. */
export function endWaiting(
  deps: { db: Db; logDb: LogDb; logs: Logs },
  { id, environmentId }: Deployment,
  end: { status: 'failed' | 'cancelled' } & Partial<Deployment>,
  line: string,
): boolean {
  if (!moveDeployment(deps.db, { id, from: ['waiting'], ...end, finishedAt: new Date() }))
    return false
  const log = new LogWriter(deps, logOf({ id, environmentId }))
  log.write(line)
  log.end()
  deps.logs.publish(id, { status: end.status })
  return true
}

/** A deployment with an existing image, or one to pull, needs no build slot. */
export const slotFor = ({ image, pullReference }: Deployment) =>
  image === null && pullReference === null ? ('build' as const) : null

/** Excludes the environment's own. */
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
      ),
    )
    .get()!.rows

export type Queued = { deployment: Deployment; superseded: Deployment[] }

/**
 * Only the newest queued deployment of an environment is worth running. One that still waits for its checks may
 * never run, so it replaces only others that wait; and changed settings replace no commit that does.
 */
export const supersedeOlder = (db: Db, deployment: Deployment): Queued =>
  db.transaction(() => {
    const superseded = db
      .update(deployments)
      .set({ status: 'superseded', finishedAt: new Date() })
      .where(
        and(
          eq(deployments.environmentId, deployment.environmentId),
          inArray(deployments.status, replacedBy(deployment)),
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

const replacedBy = ({ status, imageOf, trigger }: Deployment): Deployment['status'][] => {
  if (status === 'waiting') return ['waiting']
  const appliesSettings = imageOf !== null && (trigger === 'manual' || trigger === 'api')
  return appliesSettings ? ['pending'] : [...queuedStatuses]
}

/**
 * Publishes superseded deployments, and deletes old ones, as a burst of pushes can leave many. Call it after
 * the commit.
 */
export function publishSuperseded(
  deps: { db: Db; logDb: LogDb; logs: Logs },
  { deployment: { environmentId }, superseded }: Queued,
) {
  for (const { id } of superseded) {
    const log = new LogWriter(deps, logOf({ id, environmentId }))
    log.write('A newer deployment of this environment superseded it while queued.')
    log.end()
    deps.logs.publish(id, { status: 'superseded' })
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
