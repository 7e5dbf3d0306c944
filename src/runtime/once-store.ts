import { and, eq, or } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { getRow, hasRow, listRows } from '../db/queries.ts'
import { instances, releases, workloads } from '../db/schema.ts'
import { deleteInstance, workloadRow } from './store.ts'
import type { Instance } from './store.ts'
import type { WorkloadKey } from './workload.ts'

const isOnce = eq(instances.state, 'once')

/** One-off containers that may exist beside the workload's release. */
export const listOnce = (db: Tx, workloadId: string) =>
  listRows(db, instances, and(eq(instances.workloadId, workloadId), isOnce))

export const getOnce = (db: Tx, id: string) =>
  getRow(db, instances, and(eq(instances.id, id), isOnce))

/** Call it before a one-off container is created from the image of a release. */
export const insertOnce = (
  db: Db,
  {
    workload,
    ...values
  }: { workload: WorkloadKey } & Pick<Instance, 'id' | 'releaseId' | 'component' | 'serverId'>,
): Instance =>
  db.transaction((tx) => {
    const workloadId = workload.id
    tx.insert(workloads).values(workloadRow(workload)).onConflictDoNothing().run()
    // for a release command it is the release that is rolled out afterwards
    tx.insert(releases).values({ id: values.releaseId, workloadId }).onConflictDoNothing().run()
    const row = { ...values, workloadId, state: 'once' as const }
    return tx.insert(instances).values(row).returning().get()
  })

/** Call it once the container was removed. Also deletes a release that was stored only for it. */
export const deleteOnce = (db: Db, { id, releaseId }: Instance) =>
  db.transaction((tx) => {
    deleteInstance(tx, id)
    const uses = or(eq(workloads.liveReleaseId, releaseId), eq(workloads.nextReleaseId, releaseId))
    const isKept =
      hasRow(tx, workloads, uses) || hasRow(tx, instances, eq(instances.releaseId, releaseId))
    if (!isKept) tx.delete(releases).where(eq(releases.id, releaseId)).run()
  })
