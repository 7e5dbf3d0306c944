import { and, desc, eq, isNotNull, isNull, like, or } from 'drizzle-orm'
import type { Db } from '../../db/index.ts'
import { deployments, projects, users } from '../../db/schema.ts'

/** Newest first; more than any order of versions needs. */
const maxKnown = 500

/** What the environment was asked to pull, newest first, without rollbacks. */
export const listPulls = (db: Db, environmentId: string) =>
  db
    .select({
      pullReference: deployments.pullReference,
      pullDigest: deployments.pullDigest,
      status: deployments.status,
    })
    .from(deployments)
    .where(
      and(
        eq(deployments.environmentId, environmentId),
        isNull(deployments.imageOf),
        isNotNull(deployments.pullReference),
      ),
    )
    .orderBy(desc(deployments.id))
    .limit(maxKnown)
    .all()

/** The projects whose registry is asked for new images. */
export const listFollowing = (db: Db) =>
  db
    .select({ project: projects })
    .from(projects)
    .innerJoin(users, eq(users.id, projects.ownerId))
    .where(
      and(
        isNotNull(projects.image),
        or(eq(projects.checkTag, true), like(projects.image, '%*%')),
        isNull(projects.deletingAt),
        isNull(users.disabledAt),
      ),
    )
    .orderBy(projects.id)
    .all()
    .map(({ project }) => project)
