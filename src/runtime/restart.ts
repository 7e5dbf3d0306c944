import { atItsPace } from '../docker/index.ts'
import type { Container } from '../docker/index.ts'
import { slotsOf } from './component.ts'
import type { Component } from './component.ts'
import { whileRollingOut } from './reconcile.ts'
import type { RollOut } from './run.ts'
import type { Made } from './steps/create.ts'
import { startAndGate } from './steps/start.ts'
import { listLiveInstances, updateInstance } from './store.ts'
import { lastFirst, networkNameOf } from './workload.ts'
import type { RuntimeDeps, WorkloadKey } from './workload.ts'

type Restart = {
  workload: WorkloadKey
  /** Of the live release, in the order of their start; null where they aren't known. */
  components: Component[] | null
  hooks?: Pick<RollOut['hooks'], 'enter'>
  signal: AbortSignal
  /** Whether what runs is stopped first; otherwise only what does not run is started. */
  stops: boolean
}

/**
 * Stops the containers of the live release and starts them again in order, each through its gate. False,
 * and nothing is done, where one is missing, or is published elsewhere or has other names on its network
 * than its component says.
 */
export const restartLive = (deps: RuntimeDeps, restart: Restart): Promise<boolean> =>
  whileRollingOut(deps, restart.workload, restart.signal, async () => {
    const { workload, components, hooks = {}, signal, stops } = restart
    if (!components) return restartUnknown(deps, restart)
    const made = await findLive(deps, { ...restart, components })
    if (!made) return false
    hooks.enter?.('starting')
    // one that the engine is about to restart would never come through its gate
    const toStop = made.filter(({ state }) => stops || state === 'restarting')
    await lastFirst(workload, toStop, ({ id }) => deps.docker.stopContainer(id, atItsPace))
    const run = { ...deps, workload, hooks: {}, signal, network: networkNameOf(workload) }
    await startAndGate(run, made)
    for (const { instance, component } of made)
      updateInstance(deps.db, instance.id, { state: component.oneShot ? 'stopped' : 'live' })
    return components.length > 0
  })

/** Stops the containers of the live release, those that depend on others first; they stay for a restart. */
export const stopLive = (
  deps: RuntimeDeps,
  { workload, signal }: { workload: WorkloadKey; signal: AbortSignal },
) =>
  whileRollingOut(deps, workload, signal, async () => {
    await lastFirst(
      workload,
      listLiveInstances(deps.db, workload.id),
      async ({ id, containerId }) => {
        signal.throwIfAborted()
        if (containerId) await deps.docker.stopContainer(containerId, atItsPace)
        updateInstance(deps.db, id, { state: 'stopped' })
      },
    )
  })

/** Of containers that an earlier version made, or that were there when a backup was restored, no gate is known. */
async function restartUnknown(deps: RuntimeDeps, { workload, signal, stops }: Restart) {
  const rows = listLiveInstances(deps.db, workload.id).filter(
    ({ containerId }) => containerId !== null,
  )
  if (stops)
    for (const { containerId } of rows.toReversed())
      await deps.docker.stopContainer(containerId!, atItsPace)
  for (const { id, containerId } of rows) {
    signal.throwIfAborted()
    await deps.docker.startContainer(containerId!)
    updateInstance(deps.db, id, { state: 'live' })
  }
  return rows.length > 0
}

async function findLive(
  deps: RuntimeDeps,
  { workload, components, signal }: Restart & { components: Component[] },
) {
  const rows = listLiveInstances(deps.db, workload.id)
  const made: (Made & Pick<Container, 'state'>)[] = []
  for (const { component, slot } of slotsOf(components)) {
    const instance = rows.find((row) => row.component === component.name && row.slot === slot)
    const container =
      instance?.containerId &&
      (await deps.docker.inspectContainer(instance.containerId, { signal }))
    if (!container || !isAsItSays(container, component, networkNameOf(workload))) return null
    const { id, name, state } = container
    made.push({ id, name, state, component, instance })
  }
  return made
}

/** Where it is published, and under which names the others on its network reach it. */
function isAsItSays(container: Container, { options }: Component, network: string) {
  const { ports = [], networkAliases = [] } = options
  const addresses = ports.map(({ address }) => address)
  const own = container.networks.find(({ name }) => name === network)
  return (
    container.hostAddresses.every((address) => addresses.includes(address)) &&
    (!own || networkAliases.every((name) => own.aliases.includes(name)))
  )
}
