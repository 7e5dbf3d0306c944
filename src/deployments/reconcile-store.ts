import { eq, isNotNull } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { deployments } from '../db/schema.ts'

/** Images that are not on the engine: no deployment can be rolled back to them. */
export const forgetImagesBut = (db: Db, images: ReadonlySet<string>) =>
  db.transaction((tx) => {
    const known = tx
      .selectDistinct({ image: deployments.image })
      .from(deployments)
      .where(isNotNull(deployments.image))
      .all()
    for (const { image } of known)
      if (!images.has(image!))
        tx.update(deployments).set({ image: null }).where(eq(deployments.image, image!)).run()
  })
