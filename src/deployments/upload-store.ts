import { and, count, eq, isNotNull, isNull } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { listValues } from '../db/queries.ts'
import { deployments, projects } from '../db/schema.ts'
import type { Upload } from '../db/schema.ts'
import { isUnderWay } from './store.ts'

/** What a working copy said of its files; null when it wasn't uploaded. */
export const uploadOf = ({ upload }: { upload: Upload | null }) => {
  if (upload === null) return null
  const { id: _, ...about } = upload
  return about
}

const awaitsUpload = and(isNotNull(deployments.upload), isNull(deployments.imageOf), isUnderWay)

export const listUploads = (db: Db) =>
  listValues(db, deployments.upload, awaitsUpload).map((upload) => upload!.id)

export const countUploads = (db: Db, ownerId: string) =>
  db
    .select({ rows: count() })
    .from(deployments)
    .innerJoin(projects, eq(projects.id, deployments.projectId))
    .where(and(eq(projects.ownerId, ownerId), awaitsUpload))
    .get()!.rows
