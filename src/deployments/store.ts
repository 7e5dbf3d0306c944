import {
  and,
  asc,
  desc,
  eq,
  exists,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  sql,
} from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import {
  countRows,
  getRow,
  hasRow,
  listPage,
  listRows,
  listValues,
  preparedOnce,
} from '../db/queries.ts'
import { forgetApp } from '../db/restored.ts'
import { deployments, environments, projects, releases } from '../db/schema.ts'
import { isCurrent } from '../environments/store.ts'
import { endJob } from '../jobs/store.ts'
import type { LogKey } from '../logs/store.ts'
import { found } from '../platform/errors.ts'
import { queueStatus } from './status-store.ts'
import { deployedContainer } from '../runtime/store.ts'
import type { Page } from '../web/paging.ts'

export { deploymentStatuses, unwatchedReasons, watchEnds } from '../db/schema.ts'
export { getCurrent } from '../environments/store.ts'

export type Deployment = typeof deployments.$inferSelect
export type Status = Deployment['status']
type Changes = Partial<typeof deployments.$inferInsert>

/** Has its container, even a removed one; null when it never went live. */
export const shownDeployment = { ...getTableColumns(deployments), containerId: deployedContainer }

/** The image that it pulled in place of a build; null when it was built. */
export const pulledOf = ({
  pullReference: reference,
  pullDigest: digest,
}: Pick<Deployment, 'pullReference' | 'pullDigest'>) =>
  reference === null ? null : { reference, digest }

/** The number of the deployment that built the image. */
export const imageNumber = sql<
  number | null
>`(SELECT of.number FROM ${deployments} AS of WHERE of.id = ${deployments.imageOf})`

/** Before the pipeline. */
export const queuedStatuses = ['waiting', 'pending'] as const satisfies Status[]

/** The states in which the pipeline is working on a deployment. */
export const activeStatuses = ['cloning', 'building', 'deploying'] as const satisfies Status[]

/** The secrets of its environment are masked in its log. */
export const logOf = ({ id, environmentId }: Pick<Deployment, 'id' | 'environmentId'>): LogKey => ({
  sourceId: environmentId,
  logId: id,
})

/** True when the pipeline has finished with it and its log is complete. */
export const isEnded = (status: Status) => !unended.includes(status)

const working: readonly Status[] = activeStatuses
export const unended: Status[] = [...queuedStatuses, ...activeStatuses]

/** Queued or running, but not waiting for checks or the end of a freeze: such a one may never run. */
export const isUnderWay = inArray(deployments.status, ['pending', ...activeStatuses])

/** Numbers are unique in a project, and never used again. */
export const insertDeployment = (
  db: Db,
  values: Omit<typeof deployments.$inferInsert, 'number'>,
) => {
  const { projectId } = values
  const last = sql<number>`max(${projects.lastNumber}, (SELECT coalesce(max(number), 0) FROM ${deployments} WHERE project_id = ${projectId}))`
  return db.transaction(() => {
    const { number } = db
      .update(projects)
      .set({ lastNumber: sql`${last} + 1` })
      .where(eq(projects.id, projectId))
      .returning({ number: projects.lastNumber })
      .get()!
    return db
      .insert(deployments)
      .values({ ...values, number })
      .returning()
      .get()
  })
}

export const findDeployment = (db: Db, { id, projectId }: { id: string; projectId: string }) =>
  found(
    'deployment',
    db
      .select(shownDeployment)
      .from(deployments)
      .where(and(eq(deployments.id, id), eq(deployments.projectId, projectId)))
      .get(),
  )

/** Undefined once its project was deleted. */
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

/** Compare-and-set: false when it is no longer in one of these states. Its job ends with it. */
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
    if (moved && [...from, changes.status].some((one) => working.includes(one))) queueStatus(db, id)
    return moved !== undefined
  })

/** In one transaction: the deployment is running, its job ends, and the previous one is superseded. */
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
  forgetApp(tx, environmentId)
  queueStatus(tx, id)
}

/** Oldest first. */
export const listInStatus = (db: Db, statuses: readonly Status[]) =>
  listRows(db, deployments, inArray(deployments.status, [...statuses]), asc(deployments.id))

/** The newest one, in any state. */
export const getLatest = (db: Db, environmentId: string) =>
  getRow(db, deployments, eq(deployments.environmentId, environmentId), desc(deployments.id)) ??
  null

/** True when a deployment is queued or running in the environment. */
export const hasUnended = (db: Db, environmentId: string) =>
  hasRow(db, deployments, and(eq(deployments.environmentId, environmentId), isUnderWay))

/** A queued or running deployment of exactly this commit or image; a tag or branch may move meanwhile. */
export function getUnendedOf(
  db: Db,
  {
    environmentId,
    commit,
    image,
  }: {
    environmentId: string
    commit?: string | null | undefined
    image?: string | null | undefined
  },
) {
  const digest = image?.includes('@') ? image : null
  if (!commit && !digest) return undefined
  return getRow(
    db,
    deployments,
    and(
      eq(deployments.environmentId, environmentId),
      commit ? eq(deployments.requestedCommit, commit) : undefined,
      digest ? eq(deployments.pullReference, digest) : undefined,
      isNull(deployments.imageOf),
      isUnderWay,
    ),
    desc(deployments.id),
  )
}

/** Returns the first deployment with this image, which may be one to another environment. */
export function getBuiltBy(
  db: Db,
  deployment: Deployment,
): Pick<Deployment, 'id' | 'environmentId'> {
  const { image, projectId } = deployment
  if (image === null) return deployment
  const hasIt = and(eq(deployments.projectId, projectId), eq(deployments.image, image))
  return getRow(db, deployments, hasIt, asc(deployments.id)) ?? deployment
}

/** Those that built an image and went live, after the older one up to the newer one: their number, and the newest first. */
export function listBuiltBetween(
  db: Db,
  {
    environmentId,
    older,
    newer,
    limit,
  }: { environmentId: string; older: string; newer: string; limit: number },
) {
  const wentLive = db.select({ id: releases.id }).from(releases)
  const isBetween = and(
    eq(deployments.environmentId, environmentId),
    isNull(deployments.imageOf),
    gt(deployments.id, older),
    lte(deployments.id, newer),
    exists(wentLive.where(eq(releases.id, deployments.id))),
  )
  const rows = listPage(db, deployments, isBetween, { limit }).slice(0, limit)
  return { count: countRows(db, deployments, isBetween), rows }
}

/** Newest deployment first, without duplicates. */
export const listImages = (db: Db, environmentId: string) =>
  db
    .select({ image: deployments.image })
    .from(deployments)
    .where(and(eq(deployments.environmentId, environmentId), isNotNull(deployments.image)))
    .groupBy(deployments.image)
    .orderBy(desc(sql`max(${deployments.id})`))
    .all()
    .map(({ image }) => image!)

export const getDeployedImage = (db: Db, id: string) =>
  listValues(db, deployments.image, eq(deployments.id, id))[0] ?? null

/** Marks images that aren't on the engine. No deployment can be rolled back to them, or to its settings. */
export const forgetImagesBut = (db: Db, images: ReadonlySet<string>) =>
  db.transaction((tx) => {
    for (const image of listValues(tx, deployments.image))
      if (image !== null && !images.has(image)) {
        const ids = listValues(tx, deployments.id, eq(deployments.image, image))
        tx.update(deployments).set({ image: null }).where(inArray(deployments.id, ids)).run()
        tx.update(releases).set({ settings: null }).where(inArray(releases.id, ids)).run()
      }
  })

/** Newest first, with one more row than the page, which shows that more follow. */
export const listDeployments = (
  db: Db,
  {
    projectId,
    environmentId,
    cursor,
    limit,
  }: { projectId: string; environmentId?: string | undefined } & Page,
) =>
  db
    .select({ deployment: shownDeployment, imageNumber, environment: environments })
    .from(deployments)
    .innerJoin(environments, eq(environments.id, deployments.environmentId))
    .where(
      and(
        eq(deployments.projectId, projectId),
        environmentId ? eq(deployments.environmentId, environmentId) : undefined,
        cursor ? lt(deployments.id, cursor) : undefined,
      ),
    )
    .orderBy(desc(deployments.id))
    .limit(limit + 1)
    .all()
