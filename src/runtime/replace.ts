import { retryOnDiskFull } from '../db/failures.ts'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import type { Component } from './component.ts'
import { removeReplaced } from './drain.ts'
import { reserveEndpoints } from './endpoints.ts'
import type { GateRun } from './run.ts'
import { createOne } from './steps/create.ts'
import { refuseEnded } from './steps/gate.ts'
import { startAndGate } from './steps/start.ts'
import { insertInstance, updateInstance } from './store.ts'
import type { Instance } from './store.ts'
import type { Workload } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

type Replace = {
  instance: Instance
  component: Component
  /** By default that of the old one. */
  serverId?: string
}

/**
 * Replaces a live container with a new one of the same release. The old one is drained and removed once
 * requests reach the new one; if the new one doesn't pass its gate, nothing changes. Returns false when the
 * network has no room for two.
 */
export async function replaceInstance(
  run: RuntimeDeps & GateRun & { workload: Workload },
  { instance: old, component, serverId = old.serverId }: Replace,
): Promise<boolean> {
  const { db, engines, workload, signal } = run
  const { releaseId, workloadId, slot, port } = old
  const instance = insertInstance(db, {
    ...{ releaseId, workloadId, slot, port, serverId },
    component: component.name,
  })
  try {
    const { endpoints } = await reserveEndpoints(run, { members: [{ instance, component }] })
    const made = await createOne(run, {
      ...{ component, instance, state: 'starting' },
      endpoints: endpoints.get(instance.id)!,
    })
    await startAndGate(run, [made])
    const { restart } = component.options
    if (restart) await engines.of(made).setRestartPolicy(made.id, restart)
    await refuseEnded(run, [made])
    signal.throwIfAborted()
    await retryOnDiskFull(() => takeOver(run, { old, instance }), { signal })
  } catch (error) {
    await revert(run, instance).catch((error) =>
      report('a new container could not be removed yet', error, { workload: workload.id }),
    )
    if (error instanceof Failure && error.code === 'network_full') return false
    throw error
  }
  await retryOnDiskFull(() => run.routing.route(workload), { signal })
  await removeReplaced(run, { workload })
  return true
}

async function revert(
  run: RuntimeDeps & Pick<GateRun, 'signal'> & { workload: Workload },
  { id }: Instance,
) {
  const { db, workload, signal } = run
  await retryOnDiskFull(() => updateInstance(db, id, { state: 'draining' }), { signal })
  await removeReplaced(run, { workload, now: true })
}

const takeOver = (
  { db }: Pick<RuntimeDeps, 'db'>,
  { old, instance }: { old: Instance; instance: Instance },
) =>
  db.transaction((tx) => {
    updateInstance(tx, instance.id, { state: 'live' })
    updateInstance(tx, old.id, { state: 'draining' })
  })
