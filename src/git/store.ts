import { and, desc, eq, getTableColumns, isNull } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { gitSources, projects } from '../db/schema.ts'
import { Failure, found } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { sealedAs } from '../resources/store.ts'

/** The token is read separately, by `openSourceToken`. */
export type Source = Omit<typeof gitSources.$inferSelect, 'accessToken'>

const { accessToken: sealed, ...shown } = getTableColumns(gitSources)

/** Throws the same error for someone else's source as for a missing one. */
export const findSource = (db: Db, { id, ownerId }: { id: string; ownerId: string }): Source =>
  found(
    'git source',
    db
      .select(shown)
      .from(gitSources)
      .where(and(eq(gitSources.id, id), eq(gitSources.ownerId, ownerId)))
      .get(),
  )

/** Newest first. */
export const listSources = (db: Db, ownerId: string): Source[] =>
  db
    .select(shown)
    .from(gitSources)
    .where(eq(gitSources.ownerId, ownerId))
    .orderBy(desc(gitSources.id))
    .all()

export function openSourceToken(db: Db, secrets: Secrets, id: string): string {
  const row = { token: sealed, name: gitSources.name }
  const { token, name } = db.select(row).from(gitSources).where(eq(gitSources.id, id)).get()!
  try {
    return secrets.open(token, sealedAs('source', id))
  } catch (cause) {
    throw new Failure(
      'token_unreadable',
      `The access token of the git source ${name} can no longer be read.`,
      'Enter it again: Settings, Git, Edit.',
      { cause },
    )
  }
}

export const listProjectsOfSource = (db: Db, sourceId: string) =>
  db
    .select({ id: projects.id, name: projects.name })
    .from(projects)
    .where(eq(projects.sourceId, sourceId))
    .orderBy(projects.name)
    .all()

/** By name, without what is being deleted. */
export const listOwnProjects = (db: Tx, ownerId: string) =>
  db
    .select({ id: projects.id, name: projects.name })
    .from(projects)
    .where(and(eq(projects.ownerId, ownerId), isNull(projects.deletingAt)))
    .orderBy(projects.name)
    .all()

/** Projects that use it keep their repository's address, and have no source afterwards. */
export const deleteSource = (db: Db, id: string) =>
  db.transaction((tx) => {
    tx.update(projects)
      .set({ sourceId: null, repository: null, webhookId: null })
      .where(eq(projects.sourceId, id))
      .run()
    tx.delete(gitSources).where(eq(gitSources.id, id)).run()
  })
