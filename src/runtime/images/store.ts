import { and, eq, inArray, isNotNull, isNull, notInArray } from 'drizzle-orm'
import type { Db } from '../../db/index.ts'
import { countRows, getRow, listRows } from '../../db/queries.ts'
import { deployments, givenImages, projects, publicImages, services } from '../../db/schema.ts'

export type GivenImage = typeof givenImages.$inferSelect
type Key = Pick<GivenImage, 'ownerId' | 'reference' | 'platform'>

export const getGivenImage = (db: Db, { ownerId, reference, platform }: Key) =>
  getRow(
    db,
    givenImages,
    and(
      eq(givenImages.ownerId, ownerId),
      eq(givenImages.reference, reference),
      eq(givenImages.platform, platform),
    ),
  )

/** Keeps the name of one that is there already. */
export const recordGivenImage = (db: Db, values: typeof givenImages.$inferInsert): GivenImage =>
  db
    .insert(givenImages)
    .values(values)
    .onConflictDoUpdate({
      target: [givenImages.ownerId, givenImages.reference, givenImages.platform],
      set: { digest: values.digest, publicName: values.publicName ?? null, createdAt: new Date() },
    })
    .returning()
    .get()

/** Those that the engine may still have under their public name. */
export const listNamedInPublic = (db: Db) =>
  listRows(db, givenImages, isNotNull(givenImages.publicName))

export const forgetPublicName = (db: Db, id: string) =>
  db.update(givenImages).set({ publicName: null }).where(eq(givenImages.id, id)).run()

/** Whether one of the images, each as `repository@digest`, is known to be for everyone. */
export const isKnownPublic = (db: Db, digests: string[]) =>
  countRows(db, publicImages, inArray(publicImages.digest, digests)) > 0

export const recordPublic = (db: Db, digest: string) =>
  db.insert(publicImages).values({ digest }).onConflictDoNothing().run()

/**
 * Whether what has those labels is a user's now: the label of the owner names the one of then, who may
 * have been deleted since.
 */
export const isOwnerOf = (
  db: Db,
  ownerId: string,
  { projectId, serviceId }: { projectId: string; serviceId: string },
) =>
  [
    { table: projects, id: projectId },
    { table: services, id: serviceId },
  ].some(({ table, id }) => countRows(db, table, and(eq(table.id, id), eq(table.ownerId, ownerId))))

/** States of a deployment that is done with its image, unless it is rolled back to. */
const past = ['failed', 'cancelled', 'superseded'] as const

/**
 * To be called before an image is removed: from then on no rollback to it begins. Null where a
 * deployment runs from it, or waits or works to: then it has to stay. Otherwise the answer takes it
 * back, for when it could not be removed.
 */
export function forgetImage(db: Db, image: string) {
  const isNeeded = and(eq(deployments.image, image), notInArray(deployments.status, [...past]))
  if (countRows(db, deployments, isNeeded) > 0) return null
  const forgot = db
    .update(deployments)
    .set({ image: null })
    .where(eq(deployments.image, image))
    .returning({ id: deployments.id })
    .all()
    .map(({ id }) => id)
  return () =>
    void db
      .update(deployments)
      .set({ image })
      .where(and(inArray(deployments.id, forgot), isNull(deployments.image)))
      .run()
}
