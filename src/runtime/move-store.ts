import { eq, isNotNull } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { listRows, listValues } from '../db/queries.ts'
import { getJob } from '../jobs/store.ts'
import { Failure } from '../platform/errors.ts'
import { firstServer } from '../platform/root.ts'
import { hasVolumes } from './component.ts'
import type { Component } from './component.ts'
import { words } from './explain.ts'
import { named } from './once-failures.ts'
import type { OnceSubject } from './once-failures.ts'
import { pinnedTo } from './pin-store.ts'
import type { WorkloadKey } from './workload.ts'
import { workloads } from '../db/schema.ts'
import type { StoredMove } from '../db/stored-move.ts'

/** The last move of a workload, or the one that is under way. */
export const getMove = (db: Tx, workloadId: string): StoredMove | null =>
  listValues(db, workloads.move, eq(workloads.id, workloadId))[0] ?? null

/** The one that this job makes. */
export function moveOf(db: Tx, { id, subjectId }: { id: string; subjectId: string }) {
  const move = getMove(db, subjectId)
  return move?.id === id ? move : null
}

/** Call it in the transaction that stores its job. */
export const storeMove = (db: Tx, workloadId: string, move: StoredMove) =>
  db.update(workloads).set({ move }).where(eq(workloads.id, workloadId)).run()

export function changeMove(db: Tx, workloadId: string, changes: Partial<StoredMove>) {
  const move = getMove(db, workloadId)
  if (move) storeMove(db, workloadId, { ...move, ...changes })
}

/** Moves that haven’t ended, have left volumes on a server, or have left something down. */
export const listUnsettled = (db: Tx) =>
  listRows(db, workloads, isNotNull(workloads.move)).flatMap(({ id, serviceId, move }) => {
    const isUnsettled = move!.leftOn !== null || move!.isDown || !isOver(move!)
    return isUnsettled ? { id, isService: serviceId !== null, move: move! } : []
  })

/** The placement on one server; null for Davit’s own. */
export const placementOn = (server: string) => (server === firstServer ? null : { server })

export const isOver = ({ status }: StoredMove) => status !== 'pending' && status !== 'running'

type Once = { workload: WorkloadKey; subject: OnceSubject; component: Component }

/** Throws while its volumes may be copied, or when they are elsewhere by now, so that nothing is written in vain. */
export function refuseMoving(
  db: Tx,
  { workload, subject, component, serverId }: Once & { serverId: string },
) {
  const move = getMove(db, workload.id)
  const isCopied = move?.status === 'running' && getJob(db, move.id)?.status === 'running'
  if (!isCopied && (!hasVolumes([component]) || pinnedTo(db, workload.id) === serverId)) return
  throw new Failure(
    'being_moved',
    `${named[subject].what}: it is being moved to another server, and nothing may write to its volumes now.`,
    `To try again once it is there, ${words[subject].again}.`,
  )
}
