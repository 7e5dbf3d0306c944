import { and, asc, count, desc, eq, inArray, isNull, lt, ne } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { deployments, projects } from '../db/schema.ts'
import { activeStatuses } from './store.ts'
import type { Deployment } from './store.ts'

/** Of an environment's deployments that ended without having begun, how many are kept. */
const neverBegunKept = 500

/** All that wait, oldest first, each with the user whose turn it takes. */
export const listWaiting = (db: Db) =>
  db
    .select({ deployment: deployments, ownerId: projects.ownerId })
    .from(deployments)
    .innerJoin(projects, eq(projects.id, deployments.projectId))
    .where(eq(deployments.status, 'pending'))
    .orderBy(asc(deployments.id))
    .all()

/** Those of all projects of an owner that wait for their turn, but for those of one environment. */
export const countWaiting = (
  db: Db,
  { ownerId, besides }: { ownerId: string; besides: Pick<Deployment, 'environmentId'> },
) =>
  db
    .select({ rows: count() })
    .from(deployments)
    .innerJoin(projects, eq(projects.id, deployments.projectId))
    .where(
      and(
        eq(deployments.status, 'pending'),
        eq(projects.ownerId, ownerId),
        ne(deployments.environmentId, besides.environmentId),
      ),
    )
    .get()!.rows

/** Ends those that wait behind a newer one for the same environment; returns them. */
export const supersedeWaiting = (db: Db, newest: Pick<Deployment, 'id' | 'environmentId'>) =>
  db
    .update(deployments)
    .set({ status: 'superseded', finishedAt: new Date() })
    .where(
      and(
        eq(deployments.environmentId, newest.environmentId),
        eq(deployments.status, 'pending'),
        lt(deployments.id, newest.id),
      ),
    )
    .returning()
    .all()

/** Deletes those of an environment that ended before they began, but for the newest; returns them. */
export function forgetNeverBegun(db: Db, environmentId: string) {
  const neverBegun = and(
    eq(deployments.environmentId, environmentId),
    inArray(deployments.status, ['superseded', 'cancelled']),
    eq(deployments.attempt, 0),
    isNull(deployments.containerId),
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

/** What is being deleted, and has its work ended. */
export type WorkOf = { projectId: string } | { environmentId: string }

/** Ends what waits; returns those deployments. */
export const cancelWaiting = (db: Db, of: WorkOf) =>
  db
    .update(deployments)
    .set({ status: 'cancelled', finishedAt: new Date() })
    .where(and(eq(deployments.status, 'pending'), isOf(of)))
    .returning()
    .all()

/** Has what is in work end, though this process may be killed before it has. */
export const requestCancel = (db: Db, of: WorkOf) =>
  db
    .update(deployments)
    .set({ cancelRequested: true })
    .where(and(inArray(deployments.status, [...activeStatuses]), isOf(of)))
    .run()

/** Those of these deployments that are theirs. */
export const listWorkOf = (db: Db, of: WorkOf, ids: string[]) =>
  db
    .select({ id: deployments.id })
    .from(deployments)
    .where(and(inArray(deployments.id, ids), isOf(of)))
    .all()

const isOf = (of: WorkOf) =>
  'projectId' in of
    ? eq(deployments.projectId, of.projectId)
    : eq(deployments.environmentId, of.environmentId)
