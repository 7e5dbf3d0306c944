import { and, asc, eq, inArray, isNotNull, isNull, ne, notInArray, or } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { alias } from 'drizzle-orm/sqlite-core'
import { getRow, listRows, listValues } from '../db/queries.ts'
import { firstFree } from '../platform/names.ts'
import { freeHost } from '../services/hosts.ts'
import { listServiceHosts } from '../services/store.ts'
import {
  backupPlans,
  backups,
  deliveries,
  deployments,
  environments,
  gitSources,
  givenImages,
  jobs,
  projects,
  registries,
  runs,
  services,
  targets,
  users,
} from '../db/schema.ts'

/** Rows that refer to the user are deleted by the database. */
export const deleteUser = (db: Tx, id: string) => db.delete(users).where(eq(users.id, id)).run()

export const listUsersBeingDeleted = (db: Tx) => listRows(db, users, isNotNull(users.deletingAt))

/** True if there is another active admin. */
export const hasOtherAdmin = (db: Tx, id: string) =>
  getRow(db, users, and(eq(users.role, 'admin'), isNull(users.disabledAt), ne(users.id, id))) !==
  undefined

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

/** Ids of users. */
type Gift = { from: string; to: string }

/**
 * Transfers everything of one user to another: projects, services, git sources and backup targets (renamed if
 * the name or host is taken), backups with their plans, registry logins that the other lacks, and images pulled with them.
 */
export function setOwner(db: Tx, { from, to }: Gift) {
  for (const table of [projects, services, gitSources, targets]) giveNamed(db, table, { from, to })
  const known = db
    .select({ host: registries.host })
    .from(registries)
    .where(eq(registries.ownerId, to))
  db.delete(registries)
    .where(and(eq(registries.ownerId, from), inArray(registries.host, known)))
    .run()
  for (const table of [registries, backups, backupPlans])
    db.update(table).set({ ownerId: to }).where(eq(table.ownerId, from)).run()
  const given = db
    .select({ reference: givenImages.reference })
    .from(givenImages)
    .where(eq(givenImages.ownerId, to))
  db.update(givenImages)
    .set({ ownerId: to })
    .where(and(eq(givenImages.ownerId, from), notInArray(givenImages.reference, given)))
    .run()
}

/**
 * Gives an admin what backs up Davit itself: its plan, its backups, and their targets: all, or those that hold
 * nothing else.
 */
export function giveDavit(db: Tx, { from, to, isAll = false }: Gift & { isAll?: boolean }) {
  const isThere = and(isNull(backups.goneAt), notInArray(backups.status, ['failed', 'cancelled']))
  const usedBy = (compare: typeof eq) => [
    ...listValues(db, backupPlans.targetId, compare(backupPlans.subjectKind, 'davit')),
    ...listValues(db, backups.targetId, and(isThere, compare(backups.subjectKind, 'davit'))),
  ]
  const others = isAll ? [] : usedBy(ne)
  const only = usedBy(eq).filter((id) => !others.includes(id))
  giveNamed(db, targets, { from, to, only })
  for (const table of [backups, backupPlans])
    db.update(table)
      .set({ ownerId: to })
      .where(and(eq(table.ownerId, from), eq(table.subjectKind, 'davit')))
      .run()
}

/** Gives rows that the new owner may have the names or hosts of: all, or only those with these ids. */
function giveNamed(
  db: Tx,
  table: typeof projects | typeof services | typeof gitSources | typeof targets,
  { from, to, only }: Gift & { only?: string[] },
) {
  const ownedBy = (id: string) =>
    db.select({ id: table.id, name: table.name }).from(table).where(eq(table.ownerId, id)).all()
  const taken = new Set(ownedBy(to).map(({ name }) => name))
  for (const { id, name } of ownedBy(from)) {
    if (only && !only.includes(id)) continue
    const free = firstFree(
      (end) => name.slice(0, 60 - end.length) + end,
      (name) => !taken.has(name),
      (number) => ` (${number})`,
    )
    taken.add(free)
    const host = table === services ? { host: hostFor(db, { id, to }) } : {}
    db.update(table)
      .set({ ownerId: to, name: free, ...host })
      .where(eq(table.id, id))
      .run()
  }
}

/** Returns its own host, or a free one if the new owner has a service with that host. */
function hostFor(db: Tx, { id, to }: { id: string; to: string }) {
  const host = getRow(db, services, eq(services.id, id))?.host ?? null
  if (host === null || !listServiceHosts(db, to).includes(host)) return host
  return freeHost(db, { ownerId: to, name: host })
}

/** True if a provider has, or had, the project's webhook secret. */
export const hasWebhook = (db: Tx, { id, webhookId }: { id: string; webhookId: string | null }) =>
  webhookId !== null ||
  getRow(db, deliveries, and(eq(deliveries.projectId, id), eq(deliveries.signatureOk, true))) !==
    undefined

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
