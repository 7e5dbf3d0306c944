import {
  and,
  asc,
  count,
  eq,
  inArray,
  isNotNull,
  isNull,
  lte,
  min,
  not,
  notInArray,
} from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { getRow, listRows } from '../db/queries.ts'
import { environments, previews, projects, services } from '../db/schema.ts'

export type Preview = typeof previews.$inferSelect

const isOf = (environmentId: string) => eq(previews.environmentId, environmentId)

/** Null for any other environment. */
export const getPreview = (db: Tx, environmentId: string): Preview | null =>
  getRow(db, previews, isOf(environmentId)) ?? null

export const listPreviews = (db: Db, projectId: string): Preview[] =>
  listRows(db, previews, eq(previews.projectId, projectId), asc(previews.number))

/** With its environment. */
export const getPreviewOf = (db: Db, of: Pick<Preview, 'projectId' | 'number'>) =>
  db
    .select({ preview: previews, environment: environments })
    .from(previews)
    .innerJoin(environments, eq(environments.id, previews.environmentId))
    .where(and(eq(previews.projectId, of.projectId), eq(previews.number, of.number)))
    .get()

/** Without those that are being deleted. Strangers make `unapproved` ones, so these are counted apart. */
export function countPreviews(
  db: Db,
  { projectId, unapproved }: { projectId: string; unapproved: boolean },
) {
  const isIt = and(eq(previews.isFork, true), isNull(previews.approvedCommit))!
  return db
    .select({ rows: count() })
    .from(previews)
    .innerJoin(environments, eq(environments.id, previews.environmentId))
    .where(
      and(
        eq(previews.projectId, projectId),
        isNull(environments.deletingAt),
        unapproved ? isIt : not(isIt),
      ),
    )
    .get()!.rows
}

export const insertPreview = (db: Db, values: typeof previews.$inferInsert) =>
  db.insert(previews).values(values).returning().get()

export const updatePreview = (db: Db, environmentId: string, changes: Partial<Preview>) =>
  db.update(previews).set(changes).where(isOf(environmentId)).returning().get()

/** When the next one ends, in milliseconds; null without any. */
export const firstExpiry = (db: Db) =>
  db
    .select({ at: min(previews.expiresAt) })
    .from(previews)
    .innerJoin(environments, eq(environments.id, previews.environmentId))
    .where(isNull(environments.deletingAt))
    .get()
    ?.at?.getTime() ?? null

/** Those that have expired are being deleted from now on. */
export const endExpired = (db: Db, now: Date) =>
  db
    .update(environments)
    .set({ deletingAt: now })
    .where(
      and(
        isNull(environments.deletingAt),
        inArray(
          environments.id,
          db
            .select({ id: previews.environmentId })
            .from(previews)
            .where(lte(previews.expiresAt, now)),
        ),
      ),
    )
    .returning()
    .all()

/** Environments of previews that are being deleted, but not those of a project that is. */
export const listEndedPreviews = (db: Db) =>
  db
    .select({ environment: environments })
    .from(previews)
    .innerJoin(environments, eq(environments.id, previews.environmentId))
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(and(isNotNull(environments.deletingAt), isNull(projects.deletingAt)))
    .all()

/** Services that were made for a preview that was deleted. One that was linked elsewhere is none of them any more. */
export const listLeftServices = (db: Db) =>
  listRows(
    db,
    services,
    and(
      isNotNull(services.previewId),
      notInArray(services.previewId, db.select({ id: environments.id }).from(environments)),
    ),
    asc(services.id),
  )
