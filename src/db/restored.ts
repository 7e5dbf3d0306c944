import { eq, inArray } from 'drizzle-orm'
import type { Db, Tx } from './index.ts'
import { restoredObjects, deployments, services } from './schema.ts'

export type Restored = typeof restoredObjects.$inferSelect

/** Records what a database from a backup says is running, for the next server to look for. */
export const noteWhatRan = (db: Db) =>
  db.transaction((tx) => {
    const running = eq(deployments.status, 'running')
    const up = inArray(services.status, ['running', 'unhealthy'])
    for (const { id } of tx.select({ id: deployments.id }).from(deployments).where(running).all())
      tx.insert(restoredObjects).values({ kind: 'deployment', objectId: id }).run()
    for (const { id } of tx.select({ id: services.id }).from(services).where(up).all())
      tx.insert(restoredObjects).values({ kind: 'service', objectId: id }).run()
  })

export const listRestored = (db: Db, kind: Restored['kind']) =>
  db.select().from(restoredObjects).where(eq(restoredObjects.kind, kind)).all()

/** Call it when the workload was found, or is being redeployed. */
export const forgetRestored = (db: Tx, id: string) =>
  db.delete(restoredObjects).where(eq(restoredObjects.id, id)).run()
