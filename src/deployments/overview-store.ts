import { and, desc, eq, exists, inArray, isNotNull, lt, or, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { getRow, listRows } from '../db/queries.ts'
import { deployments, environments, instances, projects, releases } from '../db/schema.ts'
import { getJob, imageNumber, shownDeployment } from './store.ts'
import type { Deployment } from './store.ts'

/** Lists environments with their newest deployment and the live one, even if that is stopped. */
export function listEnvironmentStates(db: Db, projectIds: string[]) {
  const found = listEnvironments(db, projectIds)
  const ids = found.flatMap(({ currentId, latestId }) => [currentId ?? [], latestId ?? []].flat())
  const rows = listRows(db, deployments, inArray(deployments.id, [...new Set(ids)]))
  const known = new Map(rows.map((row) => [row.id, row]))
  return found.map(({ environment, currentId, latestId }) => ({
    environment,
    current: known.get(currentId ?? '') ?? null,
    latest: known.get(latestId ?? '') ?? null,
  }))
}

/** The deployments whose containers are kept for a rollback, by environment. */
export function listKept(db: Db, environmentIds: string[]) {
  const rows = db
    .selectDistinct({ deployment: deployments })
    .from(instances)
    .innerJoin(deployments, eq(deployments.id, instances.releaseId))
    .where(
      and(
        inArray(instances.workloadId, environmentIds),
        eq(instances.state, 'standby'),
        isNotNull(deployments.image),
      ),
    )
    .all()
  return new Map(rows.map(({ deployment }) => [deployment.environmentId, deployment]))
}

/** Uses the index of each environment, so the number of deployments doesn't matter. */
function listEnvironments(db: Db, projectIds: string[]) {
  const newest = (condition?: SQL) => {
    const ofEnvironment = eq(deployments.environmentId, environments.id)
    const query = db
      .select({ id: deployments.id })
      .from(deployments)
      .where(and(ofEnvironment, condition))
      .orderBy(desc(deployments.id))
      .limit(1)
    return sql<string | null>`(${query})`
  }
  const serves = inArray(deployments.status, ['running', 'stopped'])
  return db
    .select({ environment: environments, currentId: newest(serves), latestId: newest() })
    .from(environments)
    .where(inArray(environments.projectId, projectIds))
    .orderBy(environments.id)
    .all()
}

/**
 * Lists a user's newest deployments. They belong to the most recently deployed projects, which an index
 * finds, however many deployments there are.
 */
export function listRecent(db: Db, { ownerId, limit }: { ownerId: string; limit: number }) {
  const newest = db
    .select({ id: deployments.id })
    .from(deployments)
    .where(eq(deployments.projectId, projects.id))
    .orderBy(desc(deployments.id))
    .limit(1)
  const deployedLast = db
    .select({ id: projects.id })
    .from(projects)
    .where(eq(projects.ownerId, ownerId))
    .orderBy(desc(sql`(${newest})`))
    .limit(limit)
    .all()
  const ids = deployedLast
    .flatMap((project) => listNewestIds(db, { projectId: project.id, limit }))
    .toSorted()
    .slice(-limit)
  return db
    .select({
      deployment: shownDeployment,
      imageNumber,
      environment: environments,
      project: projects,
    })
    .from(deployments)
    .innerJoin(projects, eq(projects.id, deployments.projectId))
    .innerJoin(environments, eq(environments.id, deployments.environmentId))
    .where(inArray(deployments.id, ids))
    .orderBy(desc(deployments.id))
    .all()
}

const listNewestIds = (db: Db, { projectId, limit }: { projectId: string; limit: number }) =>
  db
    .select({ id: deployments.id })
    .from(deployments)
    .where(eq(deployments.projectId, projectId))
    .orderBy(desc(deployments.id))
    .limit(limit)
    .all()
    .map(({ id }) => id)

export type Origin = { id: string; projectId: string; number: number; environment: string }

/** The deployment whose image it runs, with the name of that one's environment. */
export function getOrigin(db: Db, { imageOf }: Pick<Deployment, 'imageOf'>): Origin | null {
  const job = imageOf === null ? undefined : getJob(db, imageOf)
  if (!job) return null
  const { id, projectId, number } = job.deployment
  return { id, projectId, number, environment: job.environment.name }
}

/** The one before it that failed or went live; of those that were superseded, some never began. */
export function getPrevious(
  db: Db,
  { id, environmentId }: Pick<Deployment, 'id' | 'environmentId'>,
) {
  const release = db.select({ id: releases.id }).from(releases)
  const wasLive = and(
    eq(deployments.status, 'superseded'),
    exists(release.where(eq(releases.id, deployments.id))),
  )
  return getRow(
    db,
    deployments,
    and(
      eq(deployments.environmentId, environmentId),
      lt(deployments.id, id),
      or(inArray(deployments.status, ['failed', 'running', 'stopped']), wasLive),
    ),
    desc(deployments.id),
  )
}
