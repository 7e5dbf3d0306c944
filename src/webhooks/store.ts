import { and, count, desc, eq, gte, inArray, isNotNull, lt, notExists, sql } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { getRow, listPage, listValues, preparedOnce } from '../db/queries.ts'
import {
  deliveries,
  deployments,
  environments,
  gitSources,
  previews,
  projects,
  users,
} from '../db/schema.ts'
import { found } from '../platform/errors.ts'
import type { Project } from '../projects/store.ts'
import type { Page } from '../web/paging.ts'

export { gitProviders, registrySenders } from '../db/schema.ts'

export type Delivery = typeof deliveries.$inferSelect
type DeliveryValues = typeof deliveries.$inferInsert

/**
 * Deliveries that are stored per project: valid ones with their push, valid ones in total, and refused ones,
 * which can't crowd out the others. Pull requests are kept with all valid ones.
 */
const kept = { good: 100, known: 2000, refused: 20 }

/** In milliseconds: how long a duplicate is recognised, if the delivery is stored for that long. */
const memory = 7 * 24 * 3_600_000

export type Receiver = { project: Project; isOwnerDisabled: boolean }

/** The fields that decide whether a delivery is for the project. */
export type Candidate = Pick<
  Project,
  'id' | 'ownerId' | 'repositoryUrl' | 'repository' | 'webhookSecret'
>

/** Projects that may have one of these repositories, newest first. `path` is `owner/name` in lower case. */
export const listCandidates = (db: Db, paths: string[]): Candidate[] =>
  prepared(db).candidates.all({ paths: JSON.stringify(paths) })

export function getReceiver(db: Db, id: string): Receiver | null {
  const found = prepared(db).receiver.get({ id })
  return found ? { project: found.project, isOwnerDisabled: found.disabledAt !== null } : null
}

export const insertDelivery = (db: Db, values: DeliveryValues) =>
  db.insert(deliveries).values(values).onConflictDoNothing().returning().get()

/** How often each project's secret signed a report of the same push. */
export const countReports = (
  db: Db,
  {
    projectId,
    ref,
    commitHash,
    since,
  }: Pick<Delivery, 'projectId' | 'ref' | 'commitHash'> & { since: Date },
) =>
  new Map(
    db
      .select({ signer: deliveries.signedBy, reports: count() })
      .from(deliveries)
      .where(
        and(
          eq(deliveries.projectId, projectId),
          eq(deliveries.signatureOk, true),
          eq(deliveries.ref, ref ?? ''),
          eq(deliveries.commitHash, commitHash ?? ''),
          gte(deliveries.createdAt, since),
        ),
      )
      .groupBy(deliveries.signedBy)
      .all()
      .map(({ signer, reports }) => [signer, reports]),
  )

/**
 * Whether the last that was said of it is that the pull request of this ref was closed, at that time or later. Where
 * a time is unknown, the order of arrival counts.
 */
export function wasClosed(
  db: Db,
  { projectId, ref, updatedAt }: { projectId: string; ref: string; updatedAt: number | null },
) {
  const closedAt = updatedAtOf
  const action = sql<string>`${deliveries.push} ->> '$.pull.action'`
  const isOf = and(eq(deliveries.projectId, projectId), eq(deliveries.ref, ref))
  const [last] = db
    .select({ action, closedAt })
    .from(deliveries)
    .where(and(isOf, eq(deliveries.signatureOk, true), inArray(action, ['closed', 'reopened'])))
    .orderBy(desc(deliveries.id))
    .limit(1)
    .all()
  if (last?.action !== 'closed') return false
  return updatedAt === null || last.closedAt === null || updatedAt <= last.closedAt
}

const updatedAtOf = sql<number | null>`${deliveries.push} ->> '$.pull.updatedAt'`

/** When the pull request of this ref changed last, by all that was said of it; null where that is unknown. */
export const getLastUpdate = (db: Db, of: { projectId: string; ref: string }) =>
  db
    .select({ at: sql<number | null>`max(${updatedAtOf})` })
    .from(deliveries)
    .where(and(eq(deliveries.projectId, of.projectId), eq(deliveries.ref, of.ref)))
    .get()?.at ?? null

const waits = sql`${deliveries.push} ->> '$.waits'`
const numberOf = sql<number>`${deliveries.push} ->> '$.pull.number'`

/** Pull requests with an event that waited until their preview was deleted. */
export function listReturning(db: Db) {
  /** Often asked for, so that the deliveries of others aren’t read. */
  const havePreviews = db
    .select({ id: projects.id })
    .from(projects)
    .where(isNotNull(projects.previews))
  const ending = db
    .select({ id: previews.environmentId })
    .from(previews)
    .innerJoin(environments, eq(environments.id, previews.environmentId))
    .where(
      and(
        eq(previews.projectId, deliveries.projectId),
        eq(previews.number, numberOf),
        isNotNull(environments.deletingAt),
      ),
    )
  return db
    .selectDistinct({ projectId: deliveries.projectId, number: numberOf })
    .from(deliveries)
    .where(
      and(
        inArray(deliveries.projectId, havePreviews),
        eq(deliveries.decision, 'accepted'),
        waits,
        notExists(ending),
      ),
    )
    .all()
}

/** The newest event of a pull request that waits for the end of its preview. None of them waits afterwards. */
export function takeWaiting(db: Db, { projectId, number }: { projectId: string; number: number }) {
  const isIt = and(eq(deliveries.projectId, projectId), eq(numberOf, number), waits)
  const taken = db
    .update(deliveries)
    .set({ push: sql`json_remove(${deliveries.push}, '$.waits')` })
    .where(isIt)
    .returning()
    .all()
  return taken.sort((a, b) => (a.id < b.id ? -1 : 1)).at(-1)
}

export const updateDelivery = (db: Db, id: string, values: Partial<DeliveryValues>) =>
  db.update(deliveries).set(values).where(eq(deliveries.id, id)).returning().get()

export function findDelivery(db: Db, { id, projectId }: { id: string; projectId: string }) {
  const isIt = and(eq(deliveries.id, id), eq(deliveries.projectId, projectId))
  return found('delivery', getRow(db, deliveries, isIt))
}

/** Newest first, with one more row than the page, which shows that more follow. */
export const listDeliveries = (db: Db, { projectId, ...page }: { projectId: string } & Page) =>
  listPage(db, deliveries, eq(deliveries.projectId, projectId), page)

/** Each with the name of its environment. Ids of deleted deployments are skipped. */
export const listMade = (db: Db, ids: string[]) =>
  new Map(
    db
      .select({
        id: deployments.id,
        projectId: deployments.projectId,
        environment: environments.name,
      })
      .from(deployments)
      .innerJoin(environments, eq(environments.id, deployments.environmentId))
      .where(inArray(deployments.id, ids))
      .all()
      .map((made) => [made.id, made]),
  )

export type CreatedDeployment = NonNullable<ReturnType<ReturnType<typeof listMade>['get']>>

export const getSourceProvider = (db: Db, { sourceId }: Pick<Project, 'sourceId'>) =>
  (sourceId && listValues(db, gitSources.provider, eq(gitSources.id, sourceId))[0]) || null

/**
 * Deletes deliveries that are neither among the newest of their kind nor recent enough to be sent again.
 * Called for each delivery.
 */
export function forgetOldDeliveries(
  db: Db,
  { projectId, signatureOk, now }: { projectId: string; signatureOk: boolean; now: number },
) {
  const { forgetPush, forgetGood, forgetRefused } = prepared(db)
  if (!signatureOk) return void forgetRefused.run({ projectId })
  forgetPush.run({ projectId })
  forgetGood.run({ projectId, since: now - memory })
}

/** Prepared once: building these queries takes longer than running them. */
const prepared = preparedOnce(prepare)

function prepare(db: Db) {
  const path = sql`path.value`
  const named = sql`instr(lower(${projects.repositoryUrl}), ${path}) OR lower(${projects.repository}) = ${path}`
  const paths = sql`json_each(${sql.placeholder('paths')}) AS path`
  const kind = (signatureOk: boolean) =>
    and(
      eq(deliveries.projectId, sql.placeholder('projectId')),
      eq(deliveries.signatureOk, signatureOk),
    )
  const lastKept = (signatureOk: boolean, count: number) =>
    db
      .select({ id: deliveries.id })
      .from(deliveries)
      .where(kind(signatureOk))
      .orderBy(desc(deliveries.id))
      .limit(1)
      .offset(count - 1)
  const firstYoung = db
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(and(kind(true), sql`${deliveries.createdAt} >= ${sql.placeholder('since')}`))
    .orderBy(deliveries.id)
    .limit(1)

  return {
    candidates: db
      .select({
        id: projects.id,
        ownerId: projects.ownerId,
        repositoryUrl: projects.repositoryUrl,
        repository: projects.repository,
        webhookSecret: projects.webhookSecret,
      })
      .from(projects)
      .where(sql`EXISTS (SELECT 1 FROM ${paths} WHERE ${named})`)
      .orderBy(desc(projects.id))
      .prepare(),
    receiver: db
      .select({ project: projects, disabledAt: users.disabledAt })
      .from(projects)
      .innerJoin(users, eq(users.id, projects.ownerId))
      .where(eq(projects.id, sql.placeholder('id')))
      .prepare(),
    // The id of an older delivery is enough to recognise it, and pushes are large. A pull request is small: one may
    // wait for the end of its preview, and its time says which others come late.
    forgetPush: db
      .update(deliveries)
      .set({ push: null })
      .where(and(eq(deliveries.id, lastKept(true, kept.good + 1)), sql`${numberOf} IS NULL`))
      .prepare(),
    // A comparison with NULL isn't true, so none is deleted while there are fewer.
    forgetGood: db
      .delete(deliveries)
      .where(
        and(
          kind(true),
          lt(
            deliveries.id,
            sql`max(min((${lastKept(true, kept.good)}), (${firstYoung})), coalesce((${lastKept(true, kept.known)}), ''))`,
          ),
        ),
      )
      .prepare(),
    forgetRefused: db
      .delete(deliveries)
      .where(and(kind(false), lt(deliveries.id, lastKept(false, kept.refused))))
      .prepare(),
  }
}
