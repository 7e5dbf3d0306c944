import type { Container } from '../docker/index.ts'
import { timed } from '../platform/trace.ts'
import type { Component, Slot } from './component.ts'
import { openComponents, slotsOf } from './component.ts'
import { placed } from './revert.ts'
import type { Difference, Placed, RollOutRun } from './run.ts'
import { getRelease, keyOf, listInstances, listStandby } from './store.ts'
import type { Instance } from './store.ts'

/**
 * Finds the containers of the live release that already run what the new one says. Those that run once are
 * run again; a component is only kept with all of its replicas, and never before one that it restarts with.
 */
export async function differenceTo(run: RollOutRun): Promise<Difference> {
  const { components, keepsUnchanged } = run.release
  const kept = new Map<string, Placed[]>()
  if (keepsUnchanged && run.strategy === undefined) {
    const healthy = listInstances(run.db, run.workload.id).filter(
      (one) => one.state === 'live' && run.runtime.isPlacedOn(run.workload, components, one),
    )
    const live = Map.groupBy(
      placed(run, run.workload, healthy),
      ({ component }) => component?.name ?? '',
    )
    for (const component of components) {
      const same = live.get(component.name) ?? []
      if (isAlike(component, same) && (await inspectUnchanged(run, component, same)))
        kept.set(component.name, same)
    }
    const isLoose = ({ waits }: Component) =>
      waits.some(({ component, restart }) => restart && !kept.has(component))
    for (let found = true; found;) {
      const loose = components.filter((one) => kept.has(one.name) && isLoose(one))
      for (const { name } of loose) kept.delete(name)
      found = loose.length > 0
    }
  }
  const changed = components.filter(({ name }) => !kept.has(name))
  const standby = await findStandby(run, changed)
  const fromOf = ({ component, slot }: Slot) =>
    standby.find(({ from }) => from.component === component.name && from.slot === slot)
  return {
    kept: [...kept.values()].flat(),
    fresh: slotsOf(changed).map((one) => ({ ...one, ...fromOf(one) })),
  }
}

/** Those instances of the release before that are what would be created. */
async function findStandby(run: RollOutRun, components: Component[]) {
  const { db, secrets, workload, release, hooks } = run
  const found: { from: Instance; isUp: boolean }[] = []
  const kept = release.startsKept ? listStandby(db, workload.id) : []
  const standby = kept.filter((instance) =>
    run.runtime.isPlacedOn(workload, release.components, instance),
  )
  const [first] = standby
  if (!first) return found
  const before = openComponents(secrets, getRelease(db, first.releaseId)) ?? []
  for (const component of components) {
    const of = before.find(({ name }) => name === component.name) ?? null
    const same = standby.flatMap((instance) => {
      const key = keyOf(instance)
      return key && instance.component === component.name
        ? [{ ...key, component: of, instance }]
        : []
    })
    const isOfCommit = of?.options.env?.DAVIT_COMMIT === component.options.env?.DAVIT_COMMIT
    const isSame = isOfCommit && isAlike(component, same)
    if (isSame) await stayUp(run, same)
    const containers =
      isSame && (await inspectUnchanged(run, component, same, { mayBeStopped: true }))
    if (containers)
      found.push(
        ...same.map(({ instance: from }, at) => ({ from, isUp: isReady(containers[at]!) })),
      )
    else hooks.log?.(`What is kept of ${component.name} isn’t as it is set today: it is recreated`)
  }
  return found
}

/** Those that wait for open requests to end stay as they are; those that are being stopped are awaited. */
async function stayUp({ instanceTasks, hooks, trace, signal }: RollOutRun, kept: Placed[]) {
  const instances = kept.map(({ instance }) => instance)
  instanceTasks.keep(instances)
  const stopping = instances.filter(({ id }) => instanceTasks.isRemoving(id))
  if (stopping.length === 0) return
  hooks.log?.('Waiting until what is kept has stopped, to start it again')
  await timed(trace, { kind: 'wait', name: 'until what is kept has stopped' }, () =>
    instanceTasks.ended(stopping, signal),
  )
}

/** The version after it is or was watched, so that it was never stopped. */
const isReady = ({ state, restartPolicy }: Container) =>
  state === 'running' && restartPolicy.name !== 'no'

/** Whether these were made from what the component says. */
function isAlike(component: Component, [first, ...others]: Placed[]) {
  if (component.oneShot || !first?.component || 1 + others.length !== component.replicas)
    return false
  return Bun.deepEquals(lookOf(first.component), lookOf(component))
}

/** Returns the containers, alike, that run what would be created; null when one doesn't. */
async function inspectUnchanged(
  { engines }: Pick<RollOutRun, 'engines'>,
  component: Component,
  same: Placed[],
  { mayBeStopped = false } = {},
) {
  const { image } = component.options
  const [own] = engines.all
  const found = await Promise.all(
    same.map(async (one) => {
      const [there, container] = await Promise.all([
        engines.of(one).inspectImage(image),
        engines.inspect(one),
      ])
      if (!container) return null
      // Under this release’s name it may not be there yet. A store of containerd has other ids: then Davit’s own
      // server tells whether both names are of one image.
      const fresh = there ?? (await own.inspectImage(image))
      const isSame =
        container.imageId === fresh?.id ||
        (!there &&
          !!fresh &&
          fresh.id === (await own.inspectImage(one.component!.options.image))?.id)
      if (!isSame) return null
      // one that crashes again and again, or is paused, gets another try
      if (mayBeStopped && container.state === 'exited') return container
      return container.state === 'running' && container.health !== 'unhealthy' ? container : null
    }),
  )
  return found.every((one) => one !== null) ? found : null
}

/** What its container was made from, but for its image: that has another name in each release. */
function lookOf({ replicas, options, joins, names, ownNames, files }: Component) {
  const { image: _, env: { DAVIT_COMMIT: __, ...env } = {}, ...rest } = options
  const found = joins.length > 1 ? ownNames : undefined // only a network of others may have them too
  const look = { replicas, options: { ...rest, env }, joins, names, found, files }
  return JSON.parse(JSON.stringify(look))
}
