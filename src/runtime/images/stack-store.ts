import { and, eq, inArray, isNotNull, notInArray } from 'drizzle-orm'
import type { Db, Tx } from '../../db/index.ts'
import { getRow, listValues } from '../../db/queries.ts'
import { deployments, stacks } from '../../db/schema.ts'

export type StoredStack = typeof stacks.$inferSelect

/** The image of a service of a Compose file, named after the deployment's own. */
export const imageOfService = (image: string, service: string) => `${image}.${service}`

/** The image that stands in the deployment for this one, which may be that of one of its services. */
export const deployedImage = (image: string) =>
  image.startsWith('davit/') ? image.split('.', 1)[0]! : image

/** Undefined for an image that isn’t of a Compose file. */
export const getStack = (db: Tx, image: string) => getRow(db, stacks, eq(stacks.image, image))

/** The images of its services, without the texts. */
export const listServiceImages = (db: Tx, image: string) =>
  Object.entries(listValues(db, stacks.services, eq(stacks.image, image))[0] ?? {})

export const insertStack = (tx: Tx, stack: StoredStack) =>
  tx.insert(stacks).values(stack).onConflictDoUpdate({ target: stacks.image, set: stack }).run()

/** The images of their services, without these images themselves. */
export const listStackImages = (db: Tx, images: string[]) =>
  listValues(db, stacks.services, inArray(stacks.image, images)).flatMap((services) =>
    Object.values(services).flatMap(({ image }) => (images.includes(image) ? [] : image)),
  )

/** Deletes those that no deployment can run any more. */
export const deleteUnusedStacks = (db: Db) =>
  db
    .delete(stacks)
    .where(
      notInArray(
        stacks.image,
        db
          .select({ image: deployments.image })
          .from(deployments)
          .where(and(isNotNull(deployments.image))),
      ),
    )
    .run()
