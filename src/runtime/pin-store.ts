import { eq } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { listRows, listValues } from '../db/queries.ts'
import { workloads } from '../db/schema.ts'
import { workloadRow } from './store.ts'
import type { WorkloadKey } from './workload.ts'

/** The server that a workload’s volumes are on, where all of it runs; null before it has any. */
export const pinnedTo = (db: Tx, workloadId: string) =>
  listValues(db, workloads.pinnedTo, eq(workloads.id, workloadId))[0] ?? null

/** Before its first volume is created; null once it has none any more. */
export const pinTo = (db: Tx, workload: WorkloadKey, serverId: string | null) =>
  db
    .insert(workloads)
    .values({ ...workloadRow(workload), pinnedTo: serverId })
    .onConflictDoUpdate({ target: workloads.id, set: { pinnedTo: serverId } })
    .run()

/** Where its first volume is created; what has some stays where they are. */
export function pinUnlessPinned(db: Tx, workload: WorkloadKey, serverId: string) {
  if (pinnedTo(db, workload.id) === null) pinTo(db, workload, serverId)
}

/** After a restore of Davit: what has volumes may have been moved since its backup to where it was found. */
export function pinWhereFound(db: Tx, workload: WorkloadKey, serverId: string) {
  if (pinnedTo(db, workload.id) !== null) pinTo(db, workload, serverId)
}

/** What has volumes on a server, which has to be moved before it can leave. */
export const listPinned = (db: Tx, serverId: string) =>
  listValues(db, workloads.id, eq(workloads.pinnedTo, serverId))

/** Their volumes are lost with the server. What a move has left on another one is all that there is, and stays; a copy that isn’t whole doesn’t. */
export function unpinFrom(db: Tx, serverId: string) {
  for (const { id, move } of listRows(db, workloads, eq(workloads.pinnedTo, serverId))) {
    const kept = move?.status === 'succeeded' ? { ...move, leftOn: null, leftUntil: null } : move
    db.update(workloads).set({ pinnedTo: null, move: kept }).where(eq(workloads.id, id)).run()
  }
}
