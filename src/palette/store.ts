import { and, asc, desc, eq, isNull } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { listLive } from '../map/store.ts'
import { listServers } from '../servers/store.ts'
import { environments, projects, services } from '../db/schema.ts'

export type Own = ReturnType<typeof listOwn>

/** All that a user owns and that isn't being deleted, newest first, in a fixed number of queries. */
export function listOwn(db: Db, ownerId: string) {
  const isOwnProject = and(eq(projects.ownerId, ownerId), isNull(projects.deletingAt))
  const isOwnService = and(eq(services.ownerId, ownerId), isNull(services.deletingAt))
  const ownProjects = db
    .select({ id: projects.id, name: projects.name })
    .from(projects)
    .where(isOwnProject)
    .orderBy(desc(projects.id))
    .all()
  const ownEnvironments = db
    .select({ id: environments.id, name: environments.name, projectId: environments.projectId })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(and(isOwnProject, isNull(environments.deletingAt)))
    .orderBy(desc(environments.projectId), asc(environments.id))
    .all()
  const ownServices = db
    .select({ id: services.id, name: services.name, status: services.status })
    .from(services)
    .where(isOwnService)
    .orderBy(desc(services.id))
    .all()
  const workloadIds = [...ownEnvironments, ...ownServices].map(({ id }) => id)
  return {
    projects: ownProjects,
    environments: ownEnvironments,
    services: ownServices,
    /** Includes live ones that are stopped. */
    containers: listLive(db, workloadIds).filter(({ containerId }) => containerId !== null),
    servers: listServers(db),
  }
}
