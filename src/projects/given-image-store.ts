import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { givenImages, projects, publicImages, services } from '../db/schema.ts'

export type GivenImage = typeof givenImages.$inferSelect
type Key = Pick<GivenImage, 'ownerId' | 'reference' | 'platform'>

export const getGivenImage = (db: Db, { ownerId, reference, platform }: Key) =>
  db
    .select()
    .from(givenImages)
    .where(
      and(
        eq(givenImages.ownerId, ownerId),
        eq(givenImages.reference, reference),
        eq(givenImages.platform, platform),
      ),
    )
    .get()

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
  db.select().from(givenImages).where(isNotNull(givenImages.publicName)).all()

export const forgetPublicName = (db: Db, id: string) =>
  db.update(givenImages).set({ publicName: null }).where(eq(givenImages.id, id)).run()

/** Whether one of the images, each as `repository@digest`, is known to be for everyone. */
export const isKnownPublic = (db: Db, digests: string[]) =>
  db.select().from(publicImages).where(inArray(publicImages.digest, digests)).get() !== undefined

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
  ].some(
    ({ table, id }) =>
      db
        .select({ id: table.id })
        .from(table)
        .where(and(eq(table.id, id), eq(table.ownerId, ownerId)))
        .get() !== undefined,
  )
