import { and, desc, eq, inArray, max } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { deployments, environments, projects } from '../db/schema.ts'
import type { Environment } from '../environments/store.ts'
import type { Project } from '../projects/store.ts'
import type { Deployment } from './store.ts'

export type EnvironmentOverview = {
  environment: Environment
  /** What serves it, or did until it was stopped. */
  current: Deployment | null
  /** The newest one, in whatever state. */
  latest: Deployment | null
}

/** The newest projects of a user with what runs in their environments, in a fixed number of queries. */
export function listOverview(db: Db, { ownerId, limit }: { ownerId: string; limit: number }) {
  const shown = db
    .select()
    .from(projects)
    .where(eq(projects.ownerId, ownerId))
    .orderBy(desc(projects.id))
    .limit(limit)
    .all()
  const ids = shown.map(({ id }) => id)
  const current = byEnvironment(listCurrent(db, ids))
  const latest = byEnvironment(listLatest(db, ids))
  const rows = db
    .select()
    .from(environments)
    .where(inArray(environments.projectId, ids))
    .orderBy(environments.id)
    .all()
    .map((environment) => ({
      environment,
      current: current.get(environment.id) ?? null,
      latest: latest.get(environment.id) ?? null,
    }))
  const byProject = Map.groupBy(rows, ({ environment }) => environment.projectId)
  return shown.map((project): { project: Project; environments: EnvironmentOverview[] } => ({
    project,
    environments: byProject.get(project.id) ?? [],
  }))
}

const listCurrent = (db: Db, projectIds: string[]) =>
  db
    .select()
    .from(deployments)
    .where(
      and(
        inArray(deployments.projectId, projectIds),
        inArray(deployments.status, ['running', 'stopped']),
      ),
    )
    .all()

const listLatest = (db: Db, projectIds: string[]) =>
  db
    .select()
    .from(deployments)
    .where(
      inArray(
        deployments.id,
        db
          .select({ id: max(deployments.id) })
          .from(deployments)
          .where(inArray(deployments.projectId, projectIds))
          .groupBy(deployments.environmentId),
      ),
    )
    .all()

const byEnvironment = (rows: Deployment[]) => new Map(rows.map((row) => [row.environmentId, row]))
