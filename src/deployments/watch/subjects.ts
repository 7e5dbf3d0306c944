import type { ContainerKey } from '../../docker/index.ts'
import { web } from '../../environments/processes.ts'
import { openComponents, slotsOf } from '../../runtime/component.ts'
import type { Component } from '../../runtime/component.ts'
import { getRelease, keyOf, listInstances } from '../../runtime/store.ts'
import type { RuntimeDeps } from '../../runtime/deps.ts'

/** A container of a watched release that must keep running, or of the one before. */
export type Subject = ContainerKey & {
  component: Component
  /** In a sentence. */
  name: string
}

/** Those of a release that run now, or should. */
export function subjectsOf(
  { db, secrets }: Pick<RuntimeDeps, 'db' | 'secrets'>,
  { environmentId, releaseId }: { environmentId: string; releaseId: string },
): Subject[] {
  const components = openComponents(secrets, getRelease(db, releaseId)) ?? []
  const instances = listInstances(db, environmentId).filter(
    (one) => one.releaseId === releaseId && states.has(one.state),
  )
  return slotsOf(components).flatMap(({ component, slot }) => {
    const found = instances.find((one) => one.component === component.name && one.slot === slot)
    const key = keyOf(found)
    if (!key || component.oneShot) return []
    return { ...key, component, name: nameOf(component, slot) }
  })
}

/** Not of those that were stopped at the switch, or are being removed. */
const states = new Set(['live', 'unhealthy', 'standby'])

function nameOf({ name, replicas }: Component, slot: number) {
  const what = name === web ? 'the app' : `the process ${name}`
  return replicas > 1 ? `replica ${slot + 1} of ${replicas} of ${what}` : what
}
