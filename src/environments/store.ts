import { and, asc, count, desc, eq, inArray, isNotNull, isNull, ne, notInArray } from 'drizzle-orm'
import { withDefaults } from '../db/columns.ts'
import type { Changes } from '../db/columns.ts'
import type { Db, Tx } from '../db/index.ts'
import { changeRow, getRow, hasRow, listPage, listRows, listValues } from '../db/queries.ts'
import type { CodeSettings } from '../db/schema.ts'
import { deployments, environments, projects, variables, schedules } from '../db/schema.ts'
import { hasShare } from '../db/watch-schema.ts'
import { refuseDuplicate } from '../db/failures.ts'
import type { Duplicates } from '../db/failures.ts'
import { AppError, found, invalidField, refuseDeleting } from '../platform/errors.ts'
import { previewIds } from '../projects/store.ts'
import type { Page } from '../web/paging.ts'
import { getPreview } from './preview-store.ts'
import { refuseUnfitSource } from './promotion-store.ts'
import { codeColumns, withCode } from './code-settings.ts'
import { refuseLoneHostPort, refuseUnfit, whyPortUnknown } from './processes.ts'
import { nextTime } from '../platform/cron.ts'

export type Environment = typeof environments.$inferSelect
type EnvironmentValues = Changes<typeof environments> &
  Pick<typeof environments.$inferInsert, 'projectId' | 'name' | 'hostPort'>

export function findEnvironment(db: Db, { id, projectId }: { id: string; projectId: string }) {
  const isIt = and(eq(environments.id, id), eq(environments.projectId, projectId))
  return found('environment', getRow(db, environments, isIt))
}

/** The live deployment, even while it is stopped. */
export const getCurrent = (db: Db, environmentId: string) =>
  getRow(db, deployments, isCurrent(environmentId), desc(deployments.id)) ?? null

export { rollbackReasons } from '../db/schema.ts'

export const getDeployment = (db: Db, id: string) =>
  getRow(db, deployments, eq(deployments.id, id)) ?? null

/** The one that most requests reach: while the live one has a share of them, the one before. */
export function getMain(db: Db, environmentId: string) {
  const current = getCurrent(db, environmentId)
  return current && hasShare(current) ? getDeployment(db, current.watch!.before) : current
}

export const isCurrent = (environmentId: string) =>
  and(
    eq(deployments.environmentId, environmentId),
    inArray(deployments.status, ['running', 'stopped']),
  )

export const getLiveUrl = (db: Db, environmentId: string) =>
  db
    .select({ url: deployments.url })
    .from(deployments)
    .where(and(eq(deployments.environmentId, environmentId), eq(deployments.status, 'running')))
    .get()?.url ?? null

const withProject = (db: Tx) =>
  db
    .select({ environment: environments, project: projects })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))

/** With its project, whoever owns it: for admins. */
export const getEnvironmentIn = (db: Tx, id: string) =>
  withProject(db).where(eq(environments.id, id)).get()

type OwnKey = { id: string; ownerId: string; projectId?: string }

export const findOwnEnvironment = (db: Db, { id, ownerId, projectId }: OwnKey) =>
  found(
    'environment',
    withProject(db)
      .where(
        and(
          eq(environments.id, id),
          eq(projects.ownerId, ownerId),
          projectId === undefined ? undefined : eq(projects.id, projectId),
        ),
      )
      .get(),
  )

export function findOwnLiveEnvironment(db: Db, key: OwnKey) {
  const own = findOwnEnvironment(db, key)
  refuseDeleting('Project', own.project)
  refuseDeleting('Environment', own.environment)
  return own
}

/** Oldest first: the first one is the default for deployments. */
export const listEnvironments = (db: Db, projectId: string) =>
  listRows(db, environments, eq(environments.projectId, projectId), asc(environments.id))

/** The default for deployments, and what previews are copies of. */
export function baseOf(db: Db, { id }: { id: string }) {
  const apart = previewIds(db, id)
  return listEnvironments(db, id).find((one) => one.deletingAt === null && !apart.has(one.id))
}

/** Of all projects of an owner, without what is being deleted; by project, oldest first. */
export const listOwnEnvironments = (db: Db, ownerId: string) =>
  withProject(db)
    .where(
      and(
        eq(projects.ownerId, ownerId),
        isNull(environments.deletingAt),
        isNull(projects.deletingAt),
      ),
    )
    .orderBy(asc(projects.name), asc(environments.id))
    .all()

/** The names under which apps of the same project reach each other, including its own. */
export function listNamesBeside(db: Db, environmentId: string, names: string[]) {
  const own = db
    .select({ projectId: environments.projectId })
    .from(environments)
    .where(eq(environments.id, environmentId))
  const isOne = and(eq(environments.projectId, own), inArray(environments.name, names))
  return listValues(db, environments.name, isOne)
}

export const listEnvironmentsBeingDeleted = (db: Db) =>
  listRows(db, environments, isNotNull(environments.deletingAt))

/** Newest first, with one more row than the page, which shows that more follow. */
export const pageOfEnvironments = (db: Db, { projectId, ...page }: { projectId: string } & Page) =>
  listPage(db, environments, eq(environments.projectId, projectId), page)

export const countVariables = (db: Db, projectId: string) =>
  new Map(
    db
      .select({ id: environments.id, variables: count(variables.id) })
      .from(environments)
      .leftJoin(variables, eq(variables.environmentId, environments.id))
      .where(eq(environments.projectId, projectId))
      .groupBy(environments.id)
      .all()
      .map(({ id, variables }) => [id, variables]),
  )

export const insertEnvironment = (db: Db, values: EnvironmentValues) =>
  refuseDuplicate(() => {
    const stored = withDefaults(environments, values) as typeof environments.$inferInsert
    return db.transaction((tx) => {
      refuseUnfitSource(tx, { ...values, id: null })
      const environment = tx.insert(environments).values(stored).returning().get()
      refuseUnfit(environment)
      refuseLoneHostPort(environment)
      return environment
    })
  }, duplicates)

export const updateEnvironment = (db: Db, id: string, values: Changes<typeof environments>) =>
  refuseDuplicate(
    () =>
      db.transaction((tx) => {
        const before = getRow(tx, environments, eq(environments.id, id))!
        const { promoteFrom, promoteAutomatically } = values
        if (promoteFrom !== undefined || promoteAutomatically !== undefined)
          refuseUnfitSource(tx, {
            ...before,
            ...(promoteFrom !== undefined && { promoteFrom }),
            ...(promoteAutomatically !== undefined && { promoteAutomatically }),
          })
        refuseOtherRef(tx, before, values)
        const changed = changeRow(tx, environments, id, values)
        const { port, portSet, processes } = values
        if (port === undefined && portSet === undefined && processes === undefined) return changed
        refuseUnfit(changed)
        refuseLoneHostPort(changed)
        const { environmentId, key, secret } = variables
        const isPort = and(eq(environmentId, id), eq(key, 'PORT'), eq(secret, false))
        const why = whyPortUnknown(changed, getRow(tx, variables, isPort)?.value)
        if (why !== null) throw invalidField('port', why)
        return changed
      }),
    duplicates,
  )

/** A preview follows its pull request alone. */
function refuseOtherRef(tx: Tx, before: Environment, values: Changes<typeof environments>) {
  const changed = (['branch', 'tags'] as const).find(
    (name) => values[name] !== undefined && values[name] !== before[name],
  )
  if (changed && getPreview(tx, before.id))
    throw invalidField(changed, 'can’t be changed: its commits are those of a pull request.')
}

/** When a deployment goes live, the settings of its commit replace those of the one before. */
export function applyCode(db: Tx, id: string, code: CodeSettings | null) {
  const changed = withCode(getRow(db, environments, eq(environments.id, id))!, code)
  const values = Object.fromEntries(codeColumns.map((name) => [name, changed[name]]))
  db.update(environments).set(values).where(eq(environments.id, id)).run()
  applySchedules(db, id, code)
}

const duplicates: Duplicates = {
  name: 'The project already has an environment with this name. Choose another name.',
  host_port: ['hostPort', 'This port belongs to another environment. Choose another one.'],
}

/** Previews don't count: they are deleted with their pull requests. */
export function isLast(db: Db, { id, projectId }: Pick<Environment, 'id' | 'projectId'>) {
  const apart = previewIds(db, projectId)
  const { projectId: project, id: other, deletingAt } = environments
  const isOther = notInArray(other, [...apart, id])
  return !hasRow(db, environments, and(eq(project, projectId), isOther, isNull(deletingAt)))
}

export function refuseLast(db: Db, environment: Pick<Environment, 'id' | 'projectId'>) {
  if (!isLast(db, environment)) return
  throw new AppError(
    'conflict',
    'A project must have at least one environment. Add another one first, or delete the project.',
  )
}

export const deleteEnvironment = (db: Db, id: string) =>
  db.delete(environments).where(eq(environments.id, id)).run()

/**
 * The schedules of the live commit replace those of the one before. One that was paused stays so, also if a later
 * commit has it again: until then it is hidden.
 */
function applySchedules(db: Tx, environmentId: string, code: CodeSettings | null) {
  const wanted = code?.settings.schedules ?? []
  const isFromCode = and(eq(schedules.environmentId, environmentId), ne(schedules.file, ''))
  const known = new Map(listRows(db, schedules, isFromCode).map((row) => [row.name, row]))
  const names = wanted.map(({ name }) => name)
  db.delete(schedules)
    .where(and(isFromCode, eq(schedules.enabled, true), notInArray(schedules.name, names)))
    .run()
  for (const { zone = null, overlap = null, missed = null, timeout = null, ...one } of wanted) {
    const values = withDefaults(schedules, { ...one, zone, overlap, missed, timeout })
    const row = known.get(one.name)
    const time = { schedule: one.schedule, zone: zone ?? 'UTC' }
    const isSame = row?.schedule === time.schedule && row.zone === time.zone
    const nextAt = row?.enabled === false ? null : isSame ? row.nextAt : nextTime(time, new Date())
    const stored = { ...values, file: code!.file, nextAt }
    if (row) db.update(schedules).set(stored).where(eq(schedules.id, row.id)).run()
    else
      db.insert(schedules)
        .values({ ...one, ...stored, environmentId })
        .run()
  }
}
