import type { Component } from './component.ts'
import { slotsOf } from './component.ts'
import { placed } from './revert.ts'
import type { Difference, Placed, RollOutRun } from './run.ts'
import { listInstances } from './store.ts'

/**
 * Finds the containers of the live release that already run what the new one says. Those that run once are
 * run again; a component is only kept with all of its replicas, and never before one that it restarts with.
 */
export async function differenceTo(run: RollOutRun): Promise<Difference> {
  const { components, keepsUnchanged } = run.release
  const kept = new Map<string, Placed[]>()
  if (keepsUnchanged && run.strategy === undefined) {
    const healthy = listInstances(run.db, run.workload.id).filter(({ state }) => state === 'live')
    const live = Map.groupBy(
      placed(run, run.workload, healthy),
      ({ component }) => component?.name ?? '',
    )
    for (const component of components) {
      const same = live.get(component.name) ?? []
      if (await isUnchanged(run, component, same)) kept.set(component.name, same)
    }
    const isLoose = ({ waits }: Component) =>
      waits.some(({ component, restart }) => restart && !kept.has(component))
    for (let found = true; found;) {
      const loose = components.filter((one) => kept.has(one.name) && isLoose(one))
      for (const { name } of loose) kept.delete(name)
      found = loose.length > 0
    }
  }
  return {
    kept: [...kept.values()].flat(),
    fresh: slotsOf(components.filter(({ name }) => !kept.has(name))),
  }
}

async function isUnchanged(
  { docker }: Pick<RollOutRun, 'docker'>,
  component: Component,
  same: Placed[],
) {
  const [first] = same
  if (component.oneShot || !first?.component || same.length !== component.replicas) return false
  if (!Bun.deepEquals(lookOf(first.component), lookOf(component))) return false
  const image = await docker.inspectImage(component.options.image)
  for (const { id } of same) {
    const container = await docker.inspectContainer(id)
    // one that crashes again and again, or is paused, gets another try
    if (container?.state !== 'running' || container.health === 'unhealthy') return false
    if (container.imageId !== image?.id) return false
  }
  return true
}

/** What its container was made from, but for its image: that has another name in each release. */
function lookOf({ replicas, options, joins, names, files }: Component) {
  const { image: _, env: { DAVIT_COMMIT: __, ...env } = {}, ...rest } = options
  return JSON.parse(JSON.stringify({ replicas, options: { ...rest, env }, joins, names, files }))
}
