import { eq, inArray } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { deployments, environments, projects, services } from '../db/schema.ts'

/** Deployments with where they went, by id; those that are not there are left out. */
export function getDeployedPlaces(db: Db, deploymentIds: string[]) {
  const rows = db
    .select({
      id: deployments.id,
      status: deployments.status,
      containerId: deployments.containerId,
      environment: { id: environments.id, name: environments.name },
      project: { id: projects.id, name: projects.name },
      ownerId: projects.ownerId,
    })
    .from(deployments)
    .innerJoin(environments, eq(environments.id, deployments.environmentId))
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(inArray(deployments.id, deploymentIds))
    .all()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Services by id; those that are not there are left out. */
export function getServicePlaces(db: Db, serviceIds: string[]) {
  const rows = db
    .select({ id: services.id, name: services.name, ownerId: services.ownerId })
    .from(services)
    .where(inArray(services.id, serviceIds))
    .all()
  return new Map(rows.map((row) => [row.id, row]))
}
