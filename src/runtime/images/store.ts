import { and, eq, inArray, isNotNull, isNull, notInArray } from 'drizzle-orm'
import type { Db } from '../../db/index.ts'
import { getRow, hasRow, listRows, listValues } from '../../db/queries.ts'
import {
  deployments,
  givenImages,
  instances,
  projects,
  publicImages,
  releases,
  services,
} from '../../db/schema.ts'
import type { OnServer } from '../../docker/index.ts'
import { isOfRelease } from '../store.ts'
import { deployedImage } from './stack-store.ts'

export type GivenImage = typeof givenImages.$inferSelect
type Key = Pick<GivenImage, 'ownerId' | 'reference' | 'platform' | 'serverId'>

export const getGivenImage = (db: Db, { ownerId, reference, platform, serverId }: Key) =>
  getRow(
    db,
    givenImages,
    and(
      eq(givenImages.ownerId, ownerId),
      eq(givenImages.reference, reference),
      eq(givenImages.platform, platform),
      eq(givenImages.serverId, serverId),
    ),
  )

/** Keeps the name of an existing one. */
export const recordGivenImage = (db: Db, values: typeof givenImages.$inferInsert): GivenImage =>
  db
    .insert(givenImages)
    .values(values)
    .onConflictDoUpdate({
      target: [
        givenImages.ownerId,
        givenImages.reference,
        givenImages.platform,
        givenImages.serverId,
      ],
      set: { digest: values.digest, publicName: values.publicName ?? null, createdAt: new Date() },
    })
    .returning()
    .get()

/** Its Docker may still have these under their public name. */
export const listNamedInPublic = (db: Db, { serverId }: OnServer) =>
  listRows(
    db,
    givenImages,
    and(eq(givenImages.serverId, serverId), isNotNull(givenImages.publicName)),
  )

export const forgetPublicName = (db: Db, id: string) =>
  db.update(givenImages).set({ publicName: null }).where(eq(givenImages.id, id)).run()

/** Each digest has the form `repository@sha256:…`. */
export const isKnownPublic = (db: Db, digests: string[]) =>
  hasRow(db, publicImages, inArray(publicImages.digest, digests))

export const recordPublic = (db: Db, digest: string) =>
  db.insert(publicImages).values({ digest }).onConflictDoNothing().run()

/** The owner label names the owner at creation, who may have been deleted since: the database decides. */
export const isOwnerOf = (
  db: Db,
  ownerId: string,
  { projectId, serviceId }: { projectId: string; serviceId: string },
) =>
  [
    { table: projects, id: projectId },
    { table: services, id: serviceId },
  ].some(({ table, id }) => hasRow(db, table, and(eq(table.id, id), eq(table.ownerId, ownerId))))

/** Of an image that a deployment pulled in place of building one, by a digest. */
export const getPulled = (db: Db, image: string) =>
  getRow(db, deployments, and(eq(deployments.image, image), isNotNull(deployments.pullDigest)))

/** True when a deployment runs the image, or can be rolled back to it. */
export const isImageKept = (db: Db, image: string) =>
  hasRow(db, deployments, eq(deployments.image, deployedImage(image)))

/** A deployment in one of these states only needs its image for a rollback. */
const past = ['failed', 'cancelled', 'superseded'] as const

/**
 * Call it before an image is removed: from then on no rollback to it can start, and the settings kept for one
 * are dropped. Returns null when a deployment or what is kept of one needs the image, which must stay. Otherwise returns a function
 * that reverts this, in case the removal fails.
 */
export const forgetImage = (db: Db, image: string) =>
  db.transaction((tx) => {
    const deployed = deployedImage(image)
    const isNeeded = and(eq(deployments.image, deployed), notInArray(deployments.status, [...past]))
    if (hasRow(tx, deployments, isNeeded)) return null
    const ids = listValues(tx, deployments.id, eq(deployments.image, deployed))
    const hasContainers = and(inArray(instances.releaseId, ids), isOfRelease)
    if (hasRow(tx, instances, hasContainers)) return null
    const kept = listRows(
      tx,
      releases,
      and(inArray(releases.id, ids), isNotNull(releases.settings)),
    )
    tx.update(deployments).set({ image: null }).where(inArray(deployments.id, ids)).run()
    tx.update(releases).set({ settings: null }).where(inArray(releases.id, ids)).run()
    return () =>
      db.transaction((tx) => {
        const isImageless = and(inArray(deployments.id, ids), isNull(deployments.image))
        tx.update(deployments).set({ image: deployed }).where(isImageless).run()
        for (const { id, settings } of kept)
          tx.update(releases).set({ settings }).where(eq(releases.id, id)).run()
      })
  })
