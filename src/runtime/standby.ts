import type { Tx } from '../db/index.ts'
import type { Container } from '../docker/index.ts'
import { removeReplaced } from './drain.ts'
import { isWatched, keyOf, listStandby, makeLive, updateInstance } from './store.ts'
import { isUp } from './workload.ts'
import type { Workload, WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

/** The containers of the release before stop, and are kept. */
export const stopStandby = (
  deps: RuntimeDeps,
  { workload, signal }: { workload: Workload; signal: AbortSignal },
) => deps.locks.run(workload, signal, () => removeReplaced(deps, { workload, stopsStandby: true }))

/** Also by the engine, after a reboot. */
export const mayStart = ({ restartPolicy }: Pick<Container, 'restartPolicy'>) =>
  restartPolicy.name !== 'no'

/** Forgets those that were removed by hand or by a clean-up, and stops those that nothing watches any more. */
export async function settleStandby(deps: RuntimeDeps, workload: WorkloadKey) {
  const { db, observed } = deps
  let isLeft = false
  for (const instance of listStandby(db, workload.id)) {
    const { id } = instance
    const key = keyOf(instance)
    const container = key && (await observed.inspectAt(key))
    if (container === 'away') continue
    if (!container) updateInstance(db, id, { state: 'removed' })
    else isLeft ||= !isWatched(db, workload.id) && (isUp(container) || mayStart(container))
  }
  if (isLeft) await removeReplaced(deps, { workload, stopsStandby: true })
}

/** Returns false when nothing is left to go back to. */
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
    const kept = listStandby(db, workload.id)
    if (kept.length === 0 || !isStill()) return false
    db.transaction((tx) => {
      const states = new Map(kept.map(({ id }) => [id, 'live' as const]))
      makeLive(tx, { workloadId: workload.id, releaseId: kept[0]!.releaseId, states })
      commit(tx)
    })
    routing.route(workload)
    await removeReplaced(deps, { workload })
    return true
  })
