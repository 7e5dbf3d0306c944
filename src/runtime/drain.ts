import { setTimeout as sleep } from 'node:timers/promises'
import { processLimits } from '../platform/limits.ts'
import { areRoomy } from './addresses.ts'
import { exclusiveResources, openComponents } from './component.ts'
import type { TaskSignals } from './instance-tasks.ts'
import { getDrainSeconds, getProjectOf, listPlaces } from './routing-store.ts'
import { removeOrLeave, stopAndRemove, stopKept } from './remove.ts'
import { componentIn, findContainer } from './revert.ts'
import type { RollOutRun } from './run.ts'
import { getInstance, getLiveRelease, listInstances, listStandby, updateInstance } from './store.ts'
import type { Instance } from './store.ts'
import { lastFirst, waitingFor } from './workload.ts'
import type { WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

/** Milliseconds after which a request that read the old addresses has connected. */
const takesHold = 500

type DrainDeps = Pick<RuntimeDeps, 'db' | 'edge'>

/** Waits until open connections to the instances have ended, at most for the environment's drain time. */
export async function drain(
  { db, edge }: DrainDeps,
  workload: WorkloadKey,
  { instances, signal }: { instances: Pick<Instance, 'id'>[]; signal: AbortSignal },
) {
  if (edge.isOn) await edge.others?.settled({ signal })
  const seconds = getDrainSeconds(db, workload)
  const ids = new Set(instances.map(({ id }) => id))
  const addresses = listPlaces(db, workload).flatMap(({ id, address, port }) =>
    ids.has(id) && address && port ? `${address}:${port}` : [],
  )
  if (!edge.isOn || seconds === 0 || addresses.length === 0) return
  await sleep(takesHold, undefined, { signal })
  await edge.drained(addresses, { seconds, signal })
}

/**
 * Stops and removes the containers of replaced releases; with `stopsStandby` also stops those that are kept, or
 * removes them where nothing is kept.
 * If the edge sent them requests, each is drained first, in the background; not with `now`. What is on a server
 * that is away goes once that is back, and what can't be removed is left.
 */
export async function removeReplaced(
  deps: RuntimeDeps,
  {
    workload,
    now = false,
    stopsStandby = false,
    log,
  }: {
    workload: WorkloadKey
    now?: boolean
    stopsStandby?: boolean
    log?: ((text: string) => void) | undefined
  },
) {
  if (stopsStandby) giveUpUnkept(deps, workload)
  const standby = stopsStandby ? listStandby(deps.db, workload.id) : []
  const replaced = [...listReplaced(deps, workload), ...standby].filter(
    (one) => !deps.instanceTasks.isRemoving(one.id) && !deps.engines.isAway(one),
  )
  // the components of a replaced release aren't kept
  const componentOf = componentIn(deps, workload)
  if (now || !deps.edge.isOn || workload.kind === 'service') {
    const end = (instance: Instance) =>
      removeOrLeave(workload, () => stopOrRemove(deps, workload, instance), { log })
    return lastFirst(workload, replaced, end, componentOf)
  }
  const waiting = waitingFor(replaced, componentOf)
  for (const instance of replaced)
    deps.instanceTasks.begin(instance, 'removal', (signals) =>
      drainAndRemove(deps, { workload, instance, sooner: waiting(instance), signals }),
    )
}

/** A watch needs the release before also where nothing is kept. */
function giveUpUnkept(
  { db, secrets }: Pick<RuntimeDeps, 'db' | 'secrets'>,
  { id }: Pick<WorkloadKey, 'id'>,
) {
  const standby = listStandby(db, id)
  const project = standby.length > 0 ? getProjectOf(db, id) : undefined
  if (!project) return
  const components = openComponents(secrets, getLiveRelease(db, id)) ?? []
  if (project.keepImages > 1 && areRoomy(db, { id, projectId: project.id }, components)) return
  db.transaction((tx) => {
    for (const one of standby) updateInstance(tx, one.id, { state: 'draining' })
  })
}

async function drainAndRemove(
  deps: RuntimeDeps,
  {
    workload,
    instance,
    sooner,
    signals: { expedite, kept, mayStop, shutdown },
  }: { workload: WorkloadKey; instance: Instance; sooner: Instance[]; signals: TaskSignals },
) {
  const signal = AbortSignal.any([kept, shutdown])
  const hurried = AbortSignal.any([expedite, signal])
  try {
    await deps.instanceTasks.ended(sooner, signal)
    await drain(deps, workload, { instances: [instance], signal: hurried })
  } catch (error) {
    if (!hurried.aborted) throw error
  }
  shutdown.throwIfAborted()
  if (!mayStop()) return
  await stopOrRemove(deps, workload, instance, { signal: shutdown }) // else the next process does
}

async function stopOrRemove(
  deps: RuntimeDeps,
  workload: WorkloadKey,
  instance: Instance,
  options: { signal?: AbortSignal } = {},
) {
  const { db } = deps
  const isKept = () => getInstance(db, instance.id)?.state === 'standby'
  const found = await findContainer(deps, workload, instance)
  if (found && isKept() && (await stopKept(deps, found, options)) && isKept()) return // a new release may have taken its place meanwhile
  if (found) await stopAndRemove(deps, found, options)
  updateInstance(db, instance.id, { state: 'removed' })
}

/** Containers of a workload for which a network always has room. */
const mostAtOnce = 2 * processLimits.instances

/**
 * Waits while too many containers of earlier releases are draining: each uses memory and addresses. The last
 * release replaced may drain while the next one starts, unless that needs ports or volumes of its own.
 */
export async function awaitDrains(run: RollOutRun) {
  const { db, instanceTasks, workload, hooks, signal } = run
  const replaced = [...listReplaced({ db }, workload), ...listStandby(db, workload.id)]
  const needs = run.release.components.flatMap(exclusiveResources)
  const isTight = needs.length > 0 || isCrowded(run)
  const last = replaced.at(-1)?.releaseId
  const inTheWay = replaced.filter(({ releaseId }) => isTight || releaseId !== last)
  if (!inTheWay.some(({ id }) => instanceTasks.isRemoving(id))) return
  hooks.log?.('Waiting for open requests to an earlier version to end')
  await instanceTasks.ended(inTheWay, signal)
}

function isCrowded({ db, workload, release }: RollOutRun) {
  const coming = release.components.reduce((sum, { replicas }) => sum + replicas, 0)
  return listInstances(db, workload.id).length + coming > mostAtOnce
}

/**
 * What is kept of the release before stops at the latest now, unless a roll-out may start it. It goes where its
 * addresses are needed.
 */
export async function settlePrevious(run: RollOutRun) {
  const { db, workload, release, hooks } = run
  const standby = listStandby(db, workload.id)
  const isInTheWay = standby.length > 0 && isCrowded(run)
  if (isInTheWay) for (const { id } of standby) updateInstance(db, id, { state: 'draining' })
  await removeReplaced(run, { workload, stopsStandby: !release.startsKept, log: hooks.log })
}

/** Only those whose containers haven't been removed yet. */
export const listReplaced = ({ db }: Pick<RuntimeDeps, 'db'>, { id }: WorkloadKey) =>
  listInstances(db, id).filter(({ state }) => state === 'draining')
