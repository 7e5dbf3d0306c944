import { and, asc, desc, eq, getTableColumns, inArray, isNotNull, lt, sql } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { countRows, getRow, listRows, listValues, preparedOnce } from '../db/queries.ts'
import { deployments, environments, projects } from '../db/schema.ts'
import { endJob } from '../jobs/store.ts'
import type { LogKey } from '../logs/store.ts'
import { found } from '../platform/errors.ts'
import { deployedContainer } from '../runtime/store.ts'
import type { Tx } from '../runtime/store.ts'
import type { Page } from '../web/paging.ts'

export { deploymentStatuses } from '../db/schema.ts'

export type Deployment = typeof deployments.$inferSelect
export type Status = Deployment['status']
type Changes = Partial<typeof deployments.$inferInsert>

/** With its container, also once that was removed; null where it never came to one that served. */
export const shownDeployment = { ...getTableColumns(deployments), containerId: deployedContainer }

/** States in which the pipeline works on a deployment. */
export const activeStatuses = ['cloning', 'building', 'deploying'] as const satisfies Status[]

/** Its log, in which the secrets of its environment are hidden. */
export const logOf = ({ id, environmentId }: Pick<Deployment, 'id' | 'environmentId'>): LogKey => ({
  sourceId: environmentId,
  logId: id,
})

/** Whether the pipeline is done with it: nothing more is written to its log. */
export const isEnded = (status: Status) =>
  status !== 'pending' && !(activeStatuses as readonly Status[]).includes(status)

export const insertDeployment = (db: Db, values: typeof deployments.$inferInsert) =>
  db.insert(deployments).values(values).returning().get()

export const findDeployment = (db: Db, { id, projectId }: { id: string; projectId: string }) =>
  found(
    'deployment',
    db
      .select(shownDeployment)
      .from(deployments)
      .where(and(eq(deployments.id, id), eq(deployments.projectId, projectId)))
      .get(),
  )

/** A deployment with where it goes; undefined once its project was deleted. */
export const getJob = (db: Db, id: string) => jobOf(db).get({ id })

const jobOf = preparedOnce((db: Db) =>
  db
    .select({ deployment: shownDeployment, project: projects, environment: environments })
    .from(deployments)
    .innerJoin(projects, eq(projects.id, deployments.projectId))
    .innerJoin(environments, eq(environments.id, deployments.environmentId))
    .where(eq(deployments.id, sql.placeholder('id')))
    .prepare(),
)

export type Job = NonNullable<ReturnType<typeof getJob>>

export const getStatus = (db: Db, id: string): Status =>
  listValues(db, deployments.status, eq(deployments.id, id))[0] ?? 'cancelled'

export const updateDeployment = (db: Db, id: string, changes: Changes) =>
  db.update(deployments).set(changes).where(eq(deployments.id, id)).run()

/** Compare and set: false when it was in none of those states any more. Its end is that of its job. */
export const moveDeployment = (
  db: Db,
  { id, from, ...changes }: { id: string; from: readonly Status[]; status: Status } & Changes,
) =>
  db.transaction(() => {
    const moved = db
      .update(deployments)
      .set(changes)
      .where(and(eq(deployments.id, id), inArray(deployments.status, [...from])))
      .returning({ id: deployments.id })
      .get()
    if (moved && isEnded(changes.status)) endJob(db, id)
    return moved !== undefined
  })

/** In a transaction: the deployment runs, its job has ended, and what ran there before is superseded. */
export function setRunning(
  tx: Tx,
  { id, environmentId }: Pick<Deployment, 'id' | 'environmentId'>,
  changes: Changes,
) {
  tx.update(deployments).set({ status: 'superseded' }).where(isCurrent(environmentId)).run()
  tx.update(deployments)
    .set({ ...changes, status: 'running' })
    .where(eq(deployments.id, id))
    .run()
  endJob(tx, id)
}

/** Oldest first. */
export const listInStatus = (db: Db, statuses: readonly Status[]) =>
  listRows(db, deployments, inArray(deployments.status, [...statuses]), asc(deployments.id))

/** Those whose provider may not have been told of their end. */
export const listUnreported = (db: Db) =>
  listRows(db, deployments, eq(deployments.commitStatus, 'pending'))

/** The one whose container serves the environment, or did until it was stopped. */
export const getCurrent = (db: Db, environmentId: string) =>
  getRow(db, deployments, isCurrent(environmentId), desc(deployments.id)) ?? null

/** The newest one of an environment, whatever became of it. */
export const getLatest = (db: Db, environmentId: string) =>
  getRow(db, deployments, eq(deployments.environmentId, environmentId), desc(deployments.id)) ??
  null

/** Whether a deployment waits or is at work there. */
export const hasUnended = (db: Db, environmentId: string) =>
  countRows(
    db,
    deployments,
    and(
      eq(deployments.environmentId, environmentId),
      inArray(deployments.status, ['pending', ...activeStatuses]),
    ),
  ) > 0

const isCurrent = (environmentId: string) =>
  and(
    eq(deployments.environmentId, environmentId),
    inArray(deployments.status, ['running', 'stopped']),
  )

export const renameImage = (db: Db, { from, to }: { from: string; to: string }) =>
  db.update(deployments).set({ image: to }).where(eq(deployments.image, from)).run()

/** Images of an environment, newest deployment first, each once. */
export const listImages = (db: Db, environmentId: string) =>
  db
    .select({ image: deployments.image })
    .from(deployments)
    .where(and(eq(deployments.environmentId, environmentId), isNotNull(deployments.image)))
    .groupBy(deployments.image)
    .orderBy(desc(sql`max(${deployments.id})`))
    .all()
    .map(({ image }) => image!)

/** Whether a deployment runs from it, or can be rolled back to it. */
export const isImageKept = (db: Db, image: string) =>
  countRows(db, deployments, eq(deployments.image, image)) > 0

/** Images that are not on the engine: no deployment can be rolled back to them. */
export const forgetImagesBut = (db: Db, images: ReadonlySet<string>) =>
  db.transaction((tx) => {
    for (const image of listValues(tx, deployments.image))
      if (image !== null && !images.has(image))
        tx.update(deployments).set({ image: null }).where(eq(deployments.image, image)).run()
  })

/** A page of a project's deployments with one row too many, newest first. */
export const listDeployments = (
  db: Db,
  { projectId, cursor, limit }: { projectId: string } & Page,
) =>
  db
    .select({ deployment: shownDeployment, environment: environments })
    .from(deployments)
    .innerJoin(environments, eq(environments.id, deployments.environmentId))
    .where(
      and(eq(deployments.projectId, projectId), cursor ? lt(deployments.id, cursor) : undefined),
    )
    .orderBy(desc(deployments.id))
    .limit(limit + 1)
    .all()
