import type { Tx } from '../db/index.ts'
import type { Container } from '../docker/index.ts'
import { removeReplaced } from './drain.ts'
import { awaitReturn } from './restore-routing.ts'
import {
  getShare,
  isWatched,
  keyOf,
  listLiveInstances,
  listStandby,
  makeLive,
  updateInstance,
} from './store.ts'
import type { Instance } from './store.ts'
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

/**
 * Forgets those that were removed by hand or by a clean-up, and stops those that nothing watches any more. In a
 * share, those get requests that run.
 */
export async function settleStandby(deps: RuntimeDeps, workload: WorkloadKey) {
  const { db, observed, routing } = deps
  let isLeft = false
  for (const instance of listStandby(db, workload.id)) {
    const { id } = instance
    const asked = Date.now()
    const key = keyOf(instance)
    const container = key && (await observed.inspectAt(key))
    if (container === 'away') continue
    if (!container) updateInstance(db, id, { state: 'removed' })
    else if (!isWatched(db, workload.id)) isLeft ||= isUp(container) || mayStart(container)
    else if (!getShare(db, workload.id) || routing.isWellSince(instance, asked)) continue
    else if (!isUp(container)) routing.exclude(workload, [instance])
    else if (routing.isExcluded(instance)) awaitReturn(deps, workload, instance)
  }
  if (isLeft) await removeReplaced(deps, { workload, stopsStandby: true })
}

type SwitchBack = {
  workload: Workload
  isStill: () => boolean
  commit: (tx: Tx) => void
  shutdown: AbortSignal
}

/** Returns false when nothing is left to go back to. What has ended gets requests once it is back. */
export async function switchBack(
  deps: RuntimeDeps,
  { workload, isStill, commit, shutdown }: SwitchBack,
) {
  const { db, locks, routing } = deps
  const isBack = await locks.rollOut(workload, shutdown, async () => {
    const kept = listStandby(db, workload.id)
    if (kept.length === 0 || !isStill()) return false
    db.transaction((tx) => {
      const stateOf = (one: Instance) => (routing.isExcluded(one) ? 'unhealthy' : 'live')
      const states = new Map(kept.map((one) => [one.id, stateOf(one)] as const))
      makeLive(tx, { workloadId: workload.id, releaseId: kept[0]!.releaseId, states })
      commit(tx)
    })
    routing.route(workload)
    await removeReplaced(deps, { workload })
    return true
  })
  for (const instance of isBack ? listLiveInstances(db, workload.id) : [])
    if (instance.state === 'unhealthy') awaitReturn(deps, workload, instance)
  return isBack
}
