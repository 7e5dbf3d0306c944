import type { Container } from '../docker/index.ts'
import { portOf, slotsOf, exclusiveResources } from './component.ts'
import type { Component } from './component.ts'
import { drain } from './drain.ts'
import { publishedAt } from './endpoint-store.ts'
import { stayStopped } from './freeze.ts'
import { replaceInstance } from './replace.ts'
import { componentIn, placed, startDown } from './revert.ts'
import type { GateRun, RollOut } from './run.ts'
import type { CreatedContainer } from './steps/create.ts'
import { startAndGate } from './steps/start.ts'
import { isWanted, keyOf, listLiveInstances, updateInstance } from './store.ts'
import type { Instance } from './store.ts'
import { lastFirst, networkNameOf } from './workload.ts'
import type { Workload, WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

type Restart = {
  workload: Workload
  /** Those of the live release, in the order of their start; null when unknown. */
  components: Component[] | null
  hooks?: Pick<RollOut['hooks'], 'enter' | 'passed'>
  signal: AbortSignal
  /** True to stop running containers first; otherwise only stopped ones are started. */
  stops: boolean
}

/**
 * Restarts the containers of the live release in order, each through its gate. If the edge routes to one,
 * another serves meanwhile: a replica, else a new container that replaces it, unless that needs its ports or
 * volumes. Returns false, without doing anything, when one is missing or its published ports or network names
 * differ from its component.
 */
export const restartLive = (deps: RuntimeDeps, restart: Restart): Promise<boolean> =>
  deps.locks.rollOut(restart.workload, restart.signal, async () => {
    const { workload, components, hooks = {}, signal, stops } = restart
    if (!components) return restartUnknown(deps, restart)
    const made = await findLive(deps, { ...restart, components })
    if (!made) return false
    hooks.enter?.('starting')
    const run = { ...deps, workload, hooks, signal, network: networkNameOf(workload) }
    const groups = Object.groupBy(made, (one) => turnOf(deps, one))
    const { together = [], replicas = [], replaceable = [] } = groups
    if (!stops) await restartSome(run, made, { stops })
    else {
      if (together.length > 0) await restartSome(run, together, { stops })
      for (const container of replicas) await restartSome(run, [container], { stops })
      for (const container of replaceable)
        if (!(await replaceInstance(run, container))) await restartSome(run, [container], { stops })
    }
    return components.length > 0
  })

type FoundContainer = CreatedContainer & Pick<Container, 'state'>

/** Containers that serve visitors restart one by one, after all others. */
function turnOf({ edge }: RuntimeDeps, { component, state }: FoundContainer) {
  if (!edge.isOn || portOf(component) === null || state !== 'running') return 'together'
  if (component.replicas > 1) return 'replicas'
  return exclusiveResources(component).length === 0 ? 'replaceable' : 'together'
}

async function restartSome(
  run: RuntimeDeps & GateRun & { workload: WorkloadKey },
  made: FoundContainer[],
  { stops }: Pick<Restart, 'stops'>,
) {
  const { engines, db, workload, signal } = run
  // a container that the engine is about to restart would never pass its gate
  const toStop = made.filter(({ state }) => stops || state === 'restarting')
  const toStart = made.filter(({ state }) => stops || state !== 'running')
  run.routing.exclude(workload, instancesOf(toStart))
  await drain(run, workload, { instances: instancesOf(toStop), signal })
  await lastFirst(
    workload,
    toStop,
    (one) => run.runtime.stop(one),
    ({ component }) => component,
  )
  const restarting = toStart.flatMap((one) => {
    const policy = one.component.options.restart
    return policy ? { id: one.id, docker: engines.of(one), policy } : []
  })
  // a crash must end the gate, not be hidden by a restart
  for (const { id, docker } of restarting) await docker.setRestartPolicy(id, { name: 'no' })
  let isStarted = false
  try {
    await startAndGate(
      run,
      made.map((one) => ({ ...one, isUp: !toStart.includes(one) })),
    )
    isStarted = true
  } finally {
    for (const { id, docker, policy } of restarting) {
      await docker.setRestartPolicy(id, policy)
      if (!isStarted) await stayStopped(docker, id) // some may be as they were before
    }
  }
  for (const { instance, component } of made)
    if (component.oneShot) updateInstance(db, instance.id, { state: 'stopped' })
    else run.routing.setLive(workload, instance)
}

const instancesOf = (made: CreatedContainer[]) => made.map(({ instance }) => instance)

/**
 * Stops the containers of the live release, those that depend on others first, and keeps them for a restart.
 * New requests are no longer routed to them before that, and open ones have time to end.
 */
export const stopLive = (
  deps: RuntimeDeps,
  { workload, signal }: { workload: WorkloadKey; signal: AbortSignal },
) =>
  deps.locks.rollOut(workload, signal, async () => {
    const instances = listLiveInstances(deps.db, workload.id)
    const reached = instances.filter(isWanted) // an interrupted attempt may have done this already
    deps.routing.exclude(workload, reached)
    await drain(deps, workload, { instances: reached, signal })
    await deps.instanceTasks.expedite(workload.id)
    const stop = async (instance: Instance) => {
      const container = keyOf(instance)
      signal.throwIfAborted()
      if (container) {
        await deps.runtime.stop(container)
        await stayStopped(deps.engines.of(container), container.id)
      }
      updateInstance(deps.db, instance.id, { state: 'stopped' })
    }
    await lastFirst(workload, instances, stop, componentIn(deps, workload))
    deps.routing.route(workload)
  })

/** Starts what a restart that was given up has stopped; dependencies may fail. */
export const startStopped = (
  deps: RuntimeDeps,
  { workload, signal }: { workload: WorkloadKey; signal: AbortSignal },
) =>
  deps.locks.run(workload, signal, async () => {
    const live = placed(deps, workload, listLiveInstances(deps.db, workload.id))
    await startDown(deps, { workload, live, signal })
  })

/** The gate of a container is unknown if a restore found it. */
async function restartUnknown(deps: RuntimeDeps, { workload, hooks, signal, stops }: Restart) {
  const rows = listLiveInstances(deps.db, workload.id).flatMap((instance) => {
    const container = keyOf(instance)
    return container ? { id: instance.id, container } : []
  })
  hooks?.enter?.('starting')
  for (const { container } of stops ? rows.toReversed() : []) await deps.runtime.stop(container)
  for (const { id, container } of rows) {
    signal.throwIfAborted()
    await deps.runtime.start(container)
    // behind an edge, it is checked first
    updateInstance(deps.db, id, { state: deps.edge.isOn ? 'unhealthy' : 'live' })
  }
  return rows.length > 0
}

async function findLive(
  deps: RuntimeDeps,
  { workload, components, signal }: Restart & { components: Component[] },
) {
  const rows = listLiveInstances(deps.db, workload.id)
  const made: FoundContainer[] = []
  for (const { component, slot } of slotsOf(components)) {
    const instance = rows.find((row) => row.component === component.name && row.slot === slot)
    const key = instance && keyOf(instance)
    const container = key && (await deps.engines.inspect(key, { signal }))
    if (!container || !isAsItSays(deps, container, { component, instance, workload })) return null
    const { id, serverId, name, state } = container
    made.push({ id, serverId, name, state, component, instance })
  }
  return made
}

/** True when its published ports and its names on the network are those of the component. */
function isAsItSays(
  { db }: RuntimeDeps,
  container: Container,
  {
    component: { options },
    instance,
    workload,
  }: { component: Component; instance: Instance; workload: Workload },
) {
  const { ports = [], networkAliases = [] } = options
  const reached = publishedAt(db, instance) // a server’s port of its own, for the edge
  const addresses = [...ports, ...(reached ? [reached] : [])].map(({ address }) => address)
  const own = container.networks.find(({ name }) => name === networkNameOf(workload))
  return (
    container.hostAddresses.every((address) => addresses.includes(address)) &&
    (!own || networkAliases.every((name) => own.aliases.includes(name)))
  )
}
