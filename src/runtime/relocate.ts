import { Failure } from '../platform/errors.ts'
import { inStartOrder } from './component.ts'
import type { Component } from './component.ts'
import { removeReplaced } from './drain.ts'
import { replaceInstance } from './replace.ts'
import { isWanted, listInstances, listStandby, updateInstance } from './store.ts'
import type { Instance } from './store.ts'
import { networkNameOf } from './workload.ts'
import type { Workload } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

type Relocation = {
  workload: Workload
  /** Those of the live release; null when unknown. */
  components: Component[] | null
  signal: AbortSignal
}

/** True on a server that is lost, or is being drained: what runs there must run elsewhere. */
export const mustLeave = (
  { engines, serverList }: Pick<RuntimeDeps, 'engines' | 'serverList'>,
  one: Pick<Instance, 'serverId'>,
) =>
  engines.isLost(one) ||
  serverList.list().find(({ id }) => id === one.serverId)?.state === 'draining'

/**
 * Replaces the containers of the live release that must leave their servers by new ones elsewhere, of the same
 * image. Each old one serves until its successor has passed its gate, and is removed once its server responds.
 */
export const relocate = (deps: RuntimeDeps, { workload, components, signal }: Relocation) =>
  deps.locks.rollOut(workload, signal, async () => {
    const { db, runtime } = deps
    const run = { ...deps, workload, hooks: {}, signal, network: networkNameOf(workload) }
    const live = () => listInstances(db, workload.id).filter(isWanted)
    for (const one of listStandby(db, workload.id))
      if (mustLeave(deps, one)) updateInstance(db, one.id, { state: 'draining' })
    for (const instance of inStartOrder(live(), components ?? [])) {
      const component = components?.find(({ name }) => name === instance.component)
      if (!component || !mustLeave(deps, instance)) continue
      signal.throwIfAborted()
      const others = live().flatMap((other) =>
        other.component === component.name && !mustLeave(deps, other) ? other.serverId : [],
      )
      // what runs as a whole goes where its first one went
      const serverId = live().find((other) => !mustLeave(deps, other))?.serverId
      const beside = { components: components!, serverId, others }
      const [next] = await runtime.place(workload, [component], beside)
      if (!(await replaceInstance(run, { instance, component, serverId: next! }))) throw full()
    }
    await removeReplaced(deps, { workload })
  })

const full = () =>
  new Failure(
    'network_full',
    'The network of the app has no free address for a container beside the one it replaces.',
    'Run fewer replicas, or delete environments of its project that aren’t needed.',
  )
