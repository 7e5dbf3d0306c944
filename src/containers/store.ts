import { and, eq, inArray } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { deployments, environments, instances, projects, services, users } from '../db/schema.ts'
import { deployedContainer } from '../runtime/store.ts'

/** Deployments with where they went, by id; those that are not there are left out. */
export function getDeployedPlaces(db: Db, deploymentIds: string[]) {
  const rows = db
    .select({
      id: deployments.id,
      status: deployments.status,
      containerId: deployedContainer,
      errorCode: deployments.errorCode,
      message: deployments.errorMessage,
      hint: deployments.errorHint,
      environment: { id: environments.id, name: environments.name },
      project: { id: projects.id, name: projects.name },
      owner: { id: users.id, email: users.email },
    })
    .from(deployments)
    .innerJoin(environments, eq(environments.id, deployments.environmentId))
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .innerJoin(users, eq(users.id, projects.ownerId))
    .where(inArray(deployments.id, deploymentIds))
    .all()
  return new Map(rows.map((row) => [row.id, { ...row, stopReason: stopReasonOf(row) }]))
}

/** Services by id; those that are not there are left out. */
export function getServicePlaces(db: Db, serviceIds: string[]) {
  const rows = db
    .select({
      id: services.id,
      name: services.name,
      owner: { id: users.id, email: users.email },
    })
    .from(services)
    .innerJoin(users, eq(users.id, services.ownerId))
    .where(inArray(services.id, serviceIds))
    .all()
  return new Map(rows.map((row) => [row.id, row]))
}

const crashLoop = 'crash_loop'

const releaseIn = (db: Db, containerId: string) =>
  db
    .select({ id: instances.releaseId })
    .from(instances)
    .where(eq(instances.containerId, containerId))

/** Why Davit stopped the app in that container. */
export const setStopReason = (db: Db, containerId: string, { message, hint }: StopReason) =>
  db
    .update(deployments)
    .set({
      errorStep: 'running',
      errorCode: crashLoop,
      errorMessage: message,
      errorHint: hint,
    })
    .where(inArray(deployments.id, releaseIn(db, containerId)))
    .run()

export const clearStopReason = (db: Db, containerId: string) =>
  db
    .update(deployments)
    .set({ errorStep: null, errorCode: null, errorMessage: null, errorHint: null })
    .where(
      and(
        inArray(deployments.id, releaseIn(db, containerId)),
        eq(deployments.errorCode, crashLoop),
      ),
    )
    .run()

/** Why Davit itself stopped an app; null where it did not. */
export type StopReason = { message: string; hint: string }

type Errors = { errorCode: string | null; message: string | null; hint: string | null }

const stopReasonOf = ({ errorCode, message, hint }: Errors): StopReason | null =>
  errorCode === crashLoop ? { message: message ?? '', hint: hint ?? '' } : null
