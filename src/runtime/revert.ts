import { retryOnDiskFull } from '../db/full.ts'
import { isEngineAway } from '../docker/retry-while-engine-down.ts'
import { journal } from '../platform/journal.ts'
import { openComponents } from './component.ts'
import type { Placed } from './run.ts'
import { startAgain } from './steps/start.ts'
import { stopAndRemove } from './remove.ts'
import {
  deleteInstance,
  forgetRelease,
  getLiveRelease,
  getNextReleaseId,
  listInstances,
  updateInstance,
} from './store.ts'
import { Undo } from './undo.ts'
import { isUp, networkNameOf } from './workload.ts'
import type { RuntimeDeps, WorkloadKey } from './workload.ts'

/** A release that did not become live. */
type Failed = { workload: WorkloadKey; releaseId: string; shutdown: AbortSignal }

/** Undoes what a roll-out left whose process ended: the live release runs as it did before. */
export async function revertInterrupted(
  deps: RuntimeDeps,
  { workload, shutdown }: Omit<Failed, 'releaseId'>,
) {
  const { db, docker } = deps
  const releaseId = getNextReleaseId(db, workload.id)
  if (!releaseId) return
  const failed = { workload, releaseId, shutdown }
  const undo = new Undo()
  undo.push('the release stays', () => forget(deps, failed))
  undo.push('the live container did not start', () => startLive(deps, failed))
  undo.push('the new container stays', () => removeNew(deps, failed))
  for (const problem of await undo.run({ docker, shutdown }))
    journal.warn(`an interrupted roll-out: ${problem}`, { workload: workload.id })
}

async function startLive(deps: RuntimeDeps, { workload, shutdown: signal }: Failed) {
  const live = listLive(deps, workload)
  const found = await Promise.all(live.map(({ id }) => deps.docker.inspectContainer(id)))
  const down = live.filter((_, at) => found[at] && !isUp(found[at]))
  await startAgain({ ...deps, workload, network: networkNameOf(workload), signal }, down)
}

/** The containers of the live release that should run, in the order of their start. */
export function listLive({ db, secrets }: RuntimeDeps, { id }: WorkloadKey): Placed[] {
  const components = openComponents(secrets, getLiveRelease(db, id))
  return listInstances(db, id).flatMap(({ state, containerId, component }) =>
    state === 'live' && containerId
      ? { id: containerId, component: components?.find(({ name }) => name === component) ?? null }
      : [],
  )
}

/** Removes its containers. One that the engine refuses to remove is left to `reconcile`. */
export async function removeNew(deps: RuntimeDeps, { workload, releaseId, shutdown }: Failed) {
  const patience = { signal: shutdown }
  let refusal: unknown
  for (const { id, containerId, ...instance } of listInstances(deps.db, workload.id)) {
    if (instance.releaseId !== releaseId || instance.state === 'draining') continue
    try {
      if (containerId) await stopAndRemove(deps, containerId, { timeoutSeconds: 0 })
      await retryOnDiskFull(() => deleteInstance(deps.db, id), patience)
    } catch (error) {
      if (isEngineAway(error)) throw error
      refusal ??= error
      await retryOnDiskFull(() => updateInstance(deps.db, id, { state: 'draining' }), patience)
    }
  }
  if (refusal) throw refusal
}

/** From then on no roll-out is under way. */
export const forget = async (
  { db }: RuntimeDeps,
  { workload, releaseId, shutdown: signal }: Failed,
) =>
  retryOnDiskFull(() => forgetRelease(db, { id: releaseId, workloadId: workload.id }), { signal })
