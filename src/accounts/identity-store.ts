import { and, desc, eq, lt } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { countRows, deleteFound, listRows } from '../db/queries.ts'
import { identities, oauthAttempts, users } from '../db/schema.ts'

export type Identity = typeof identities.$inferSelect
type IdentityKey = Pick<Identity, 'provider' | 'baseUrl' | 'providerUserId'>

export const getUserByIdentity = (db: Db, key: IdentityKey) =>
  db
    .select({ user: users, identity: identities })
    .from(identities)
    .innerJoin(users, eq(users.id, identities.userId))
    .where(
      and(
        eq(identities.provider, key.provider),
        eq(identities.baseUrl, key.baseUrl),
        eq(identities.providerUserId, key.providerUserId),
      ),
    )
    .get()

export const listIdentities = (db: Db, userId: string) =>
  listRows(db, identities, eq(identities.userId, userId), desc(identities.id))

export const insertIdentity = (db: Db, values: typeof identities.$inferInsert) =>
  db.insert(identities).values(values).returning().get()

/** The name and token are the provider's newest. */
export const updateIdentity = (
  db: Db,
  { id, ...values }: Pick<Identity, 'id' | 'login' | 'accessToken'>,
) => db.update(identities).set(values).where(eq(identities.id, id)).run()

export const countIdentities = (db: Db, userId: string) =>
  countRows(db, identities, eq(identities.userId, userId))

export const deleteOwnIdentity = (db: Db, { id, userId }: { id: string; userId: string }) =>
  deleteFound(
    db,
    identities,
    and(eq(identities.id, id), eq(identities.userId, userId)),
    'linked login',
  )

export const deleteIdentitiesOf = (db: Tx, userId: string) =>
  db.delete(identities).where(eq(identities.userId, userId)).run()

export const insertAttempt = (db: Db, values: typeof oauthAttempts.$inferInsert) =>
  db.insert(oauthAttempts).values(values).run()

/** Returns the attempt and deletes it: a state can be used once, whatever the outcome. */
export const takeAttempt = (db: Db, stateHash: string) =>
  db.delete(oauthAttempts).where(eq(oauthAttempts.stateHash, stateHash)).returning().get()

export const deleteAttemptsBefore = (db: Db, time: Date) =>
  db.delete(oauthAttempts).where(lt(oauthAttempts.createdAt, time)).run()
