import { and, eq, inArray, isNull, notInArray } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { deployments } from '../db/schema.ts'

/** States of a deployment that is done with its image, unless it is rolled back to. */
const past = ['failed', 'cancelled', 'superseded'] as const

/**
 * To be called before an image is removed: from then on no rollback to it begins. Null where a
 * deployment runs from it, or waits or works to: then it has to stay. Otherwise the answer takes it
 * back, for when it could not be removed.
 */
export function forgetImage(db: Db, image: string) {
  const used = db
    .select({ id: deployments.id })
    .from(deployments)
    .where(and(eq(deployments.image, image), notInArray(deployments.status, [...past])))
    .get()
  if (used) return null
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
