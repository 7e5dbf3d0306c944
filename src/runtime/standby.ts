import type { Tx } from '../db/index.ts'
import { removeReplaced } from './drain.ts'
import { getLiveRelease, listInstances, makeLive, updateInstance } from './store.ts'
import type { Workload, WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

const listStandby = (db: Tx, { id }: WorkloadKey) =>
  listInstances(db, id).filter(({ state }) => state === 'standby')

/** The next roll-out removes the release before. */
export function dropStandby({ db }: Pick<RuntimeDeps, 'db'>, workload: WorkloadKey) {
  for (const { id } of listStandby(db, workload)) updateInstance(db, id, { state: 'draining' })
}

export const stopStandby = (
  deps: RuntimeDeps,
  { workload, signal }: { workload: Workload; signal: AbortSignal },
) =>
  deps.locks.run(workload, signal, async () => {
    dropStandby(deps, workload)
    await removeReplaced(deps, { workload })
  })

export const switchBack = (
  deps: RuntimeDeps,
  {
    workload,
    isStill,
    commit,
    shutdown,
  }: {
    workload: Workload
    isStill: () => boolean
    commit: (tx: Tx) => void
    shutdown: AbortSignal
  },
) =>
  deps.locks.rollOut(workload, shutdown, async () => {
    const { db, routing } = deps
    const kept = listStandby(db, workload)
    if (kept.length === 0 || !isStill()) return false
    db.transaction((tx) => {
      const states = new Map(kept.map(({ id }) => [id, 'live' as const]))
      makeLive(tx, { workloadId: workload.id, releaseId: kept[0]!.releaseId, states })
      commit(tx)
    })
    routing.route(workload)
    await removeReplaced(deps, { workload })
    return getLiveRelease(db, workload.id) !== undefined
  })
