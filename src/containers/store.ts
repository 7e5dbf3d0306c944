import { and, eq, inArray } from 'drizzle-orm'
import { isStopCode, stopCodes } from '../runtime/crash-count.ts'
import type { StopCode } from '../runtime/crash-count.ts'
import type { Db } from '../db/index.ts'
import { getRow, listRows } from '../db/queries.ts'
import { deployments, environments, instances, projects, services, users } from '../db/schema.ts'
import { web } from '../environments/processes.ts'

export function getDeployedPlaces(db: Db, deploymentIds: string[]) {
  const rows = db
    .select({
      id: deployments.id,
      status: deployments.status,
      errorStep: deployments.errorStep,
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
  return new Map(rows.map((row) => [row.id, row]))
}

/** The containers of releases. The container id is null while it is being created. */
export const listDeployedContainers = (db: Db, deploymentIds: string[]) =>
  Map.groupBy(
    listRows(db, instances, inArray(instances.releaseId, deploymentIds)),
    ({ releaseId }) => releaseId,
  )

/** The releases of these containers, which may be later ones than their labels say. */
export const listReleasesOf = (db: Db, containerIds: string[]) =>
  new Map(
    listRows(db, instances, inArray(instances.containerId, containerIds)).map(
      ({ containerId, releaseId, workloadId }) => [containerId, { releaseId, workloadId }],
    ),
  )

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

const stepOf = (process: string) => (process === web ? 'running' : `running ${process}`)

const instanceIn = (db: Db, containerId: string) =>
  getRow(db, instances, eq(instances.containerId, containerId))

export function setStopReason(db: Db, containerId: string, reason: StopReason) {
  const instance = instanceIn(db, containerId)
  if (!instance) return
  db.update(deployments)
    .set({ errorStep: stepOf(instance.component), ...errorOf(reason) })
    .where(eq(deployments.id, instance.releaseId))
    .run()
}

/** Stored until the service's next start. */
export const setServiceStopped = (db: Db, serviceId: string, reason: StopReason) =>
  db
    .update(services)
    .set({ errorStep: null, ...errorOf(reason) })
    .where(eq(services.id, serviceId))
    .run()

const errorOf = ({ code, message, hint }: StopReason) => ({
  errorCode: code,
  errorMessage: message,
  errorHint: hint,
})

export function clearStopReason(db: Db, containerId: string) {
  const instance = instanceIn(db, containerId)
  if (!instance) return
  const isIts = and(
    eq(deployments.id, instance.releaseId),
    inArray(deployments.errorCode, stopCodes),
    eq(deployments.errorStep, stepOf(instance.component)),
  )
  db.update(deployments)
    .set({ errorStep: null, errorCode: null, errorMessage: null, errorHint: null })
    .where(isIts)
    .run()
}

export type StopReason = { code: StopCode; message: string; hint: string }

type Errors = Record<'errorStep' | 'errorCode' | 'message' | 'hint', string | null>

/** Null if Davit didn't stop that process. */
export const stopReasonOf = (
  { errorStep, errorCode, message, hint }: Errors,
  process: string,
): StopReason | null =>
  isStopCode(errorCode) && errorStep === stepOf(process)
    ? { code: errorCode, message: message ?? '', hint: hint ?? '' }
    : null
