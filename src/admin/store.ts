import { and, asc, eq, isNotNull, isNull, ne, or } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { alias } from 'drizzle-orm/sqlite-core'
import { hasRow, listRows } from '../db/queries.ts'
import {
  deliveries,
  deployments,
  environments,
  jobs,
  projects,
  runs,
  services,
  users,
} from '../db/schema.ts'

/** Rows that refer to the user are deleted by the database. */
export const deleteUser = (db: Tx, id: string) => db.delete(users).where(eq(users.id, id)).run()

export const listUsersBeingDeleted = (db: Tx) => listRows(db, users, isNotNull(users.deletingAt))

export const listHeirs = (db: Tx, id: string) =>
  db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(and(ne(users.id, id), isNull(users.disabledAt)))
    .orderBy(users.email)
    .all()

export const listProjectsOf = (db: Tx, ownerId: string) =>
  listRows(db, projects, eq(projects.ownerId, ownerId), asc(projects.name))

export const listServicesOf = (db: Tx, ownerId: string) =>
  listRows(db, services, eq(services.ownerId, ownerId), asc(services.name))

export function setAllDeleting(
  db: Tx,
  { ownerId, deletingAt, volumes }: { ownerId: string; deletingAt: Date; volumes: boolean },
) {
  for (const table of [projects, services])
    db.update(table)
      .set({ deletingAt, deletingVolumes: volumes })
      .where(eq(table.ownerId, ownerId))
      .run()
}

/** True if a provider has, or had, the project's own webhook secret. */
export const hasWebhook = (db: Tx, { id, webhookId }: { id: string; webhookId: string | null }) =>
  webhookId !== null ||
  hasRow(
    db,
    deliveries,
    and(
      eq(deliveries.projectId, id),
      eq(deliveries.signatureOk, true),
      isNull(deliveries.signedBy),
    ),
  )

/** All queued and running jobs with their subjects; oldest first. */
export const listJobs = (db: Tx) =>
  db
    .select({
      job: jobs,
      deployment: { status: deployments.status },
      project: { id: projects.id, name: projects.name },
      environment: environments,
      run: runs,
      service: { name: services.name, status: services.status },
      owner: { id: users.id, email: users.email },
    })
    .from(jobs)
    .leftJoin(deployments, eq(deployments.id, jobs.id))
    .leftJoin(runs, eq(runs.id, jobs.id))
    .leftJoin(
      environments,
      or(eq(environments.id, jobs.subjectId), eq(environments.id, runs.environmentId)),
    )
    .leftJoin(projects, eq(projects.id, environments.projectId))
    .leftJoin(services, eq(services.id, jobs.subjectId))
    .leftJoin(users, eq(users.id, jobs.ownerId))
    .orderBy(asc(jobs.id))
    .all()

/** Services with host access, and who allowed it; oldest first. */
export const listGranted = (db: Tx) =>
  db
    .select({
      service: {
        id: services.id,
        name: services.name,
        allowed: services.allowed,
        compose: services.compose,
      },
      owner: { id: users.id, email: users.email },
      by: { id: grantors.id, email: grantors.email },
    })
    .from(services)
    .innerJoin(users, eq(users.id, services.ownerId))
    .leftJoin(grantors, eq(grantors.id, services.allowedBy))
    .where(ne(services.allowed, []))
    .orderBy(asc(services.id))
    .all()

const grantors = alias(users, 'grantors')
