import { SQLiteError } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { asc, desc, eq, isNull } from 'drizzle-orm'
import { installationIn } from '../db/copy.ts'
import type { Db } from '../db/index.ts'
import { getRow, listRows } from '../db/queries.ts'
import { listRestored } from '../db/restored.ts'
import { backupPlans, deployments, environments, projects, services, users } from '../db/schema.ts'
import { getCurrent } from '../environments/store.ts'
import { Failure } from '../platform/errors.ts'
import { asDavit } from './accounts.ts'

/** Null when Davit never started, or its data was removed or can't be read. */
export function installationOf(dataDir: string) {
  const path = join(dataDir, 'davit.db')
  return unlessDamaged(() =>
    asDavit(() => (existsSync(path) ? (installationIn(path)?.id ?? null) : null)),
  )
}

/** Null when a database can't be read, which must not prevent the removal of Davit. */
export function unlessDamaged<Result>(read: () => Result) {
  try {
    return read()
  } catch (error) {
    if (isOfDatabase(error)) return null
    throw error
  }
}

const isOfDatabase = (error: unknown): boolean =>
  error instanceof Failure ||
  error instanceof SQLiteError ||
  (error instanceof Error && isOfDatabase(error.cause))

/** The names of all projects and services, by which an operator recognises an installation. */
export const namesOf = (db: Db) => ({
  projects: db.select({ name: projects.name }).from(projects).orderBy(projects.name).all(),
  services: db.select({ name: services.name }).from(services).orderBy(services.name).all(),
})

/** Everything that users have stored, by name: empty if no one has used the installation. */
export function namesInUse(db: Db) {
  const { projects, services } = namesOf(db)
  const people = db.select({ name: users.email }).from(users).all()
  const listed = { user: people, project: projects, service: services }
  return Object.entries(listed).flatMap(([what, all]) =>
    all.map(({ name }) => `the ${what} ${name}`),
  )
}

/** An app, by its environment's id, or a service. */
export type Workload = {
  id: string
  kind: 'app' | 'service'
  name: string
  isRunning: boolean
  /** True when its state is final. */
  isOver: boolean
  state: string
}

/**
 * All apps ever deployed, and all services, of all owners. One that a restore has yet to start doesn't run.
 */
export function listWorkloads(db: Db): Workload[] {
  const restored = (kind: 'deployment' | 'service') =>
    new Set(listRestored(db, kind).map(({ objectId }) => objectId))
  return [...listApps(db, restored('deployment')), ...listServices(db, restored('service'))]
}

const coming: string[] = ['pending', 'cloning', 'building', 'deploying']

const listApps = (db: Db, restored: Set<string>) =>
  db
    .select({ id: environments.id, name: environments.name, project: projects.name })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(isNull(projects.deletingAt))
    .orderBy(projects.name, environments.id)
    .all()
    .flatMap(({ id, name, project }): Workload[] => {
      const ofIt = eq(deployments.environmentId, id)
      const newest = getRow(db, deployments, ofIt, desc(deployments.id))
      if (!newest) return []
      const current = getCurrent(db, id)
      const isLive = current?.status === 'running'
      const isRestored = restored.has(current?.id ?? '')
      return [
        {
          ...{ id, kind: 'app', name: `${project}/${name}` },
          isRunning: isLive && !isRestored,
          isOver: !coming.includes(newest.status) && !isRestored,
          state: isRestored ? 'waiting' : (newest.errorMessage ?? newest.status),
        },
      ]
    })

const listServices = (db: Db, restored: Set<string>) =>
  listRows(db, services, isNull(services.deletingAt), asc(services.name)).map(
    ({ id, name, status, errorMessage }): Workload => ({
      ...{ id, kind: 'service', name },
      isRunning: status === 'running' && !restored.has(id),
      isOver: !restored.has(id) && ['running', 'stopped', 'failed'].includes(status),
      state: errorMessage ?? status,
    }),
  )

/** Each backs up nothing until it is saved again. */
export const turnPlansOff = (db: Db) => db.update(backupPlans).set({ nextAt: null }).run()
