import type { Db } from '../db/index.ts'
import type { Engines } from '../docker/index.ts'
import { web } from '../environments/processes.ts'
import { getDeployedImage } from '../deployments/store.ts'
import type { Condition } from '../runtime/observed-containers.ts'
import { listHeld } from '../runtime/endpoint-store.ts'
import { listServiceImages } from '../runtime/images/stack-store.ts'
import { getLiveRelease, listLiveInstances } from '../runtime/store.ts'
import { networkNameOf, overlayOf } from '../runtime/workload.ts'

export type LiveDeps = {
  db: Db
  observed: {
    condition: (containerId: string) => Condition | null
    isLooping: (containerId: string) => boolean
  }
  engines: Pick<Engines, 'isAway'>
}

/** `unknown` of one that should run on a server that is away. */
export const instanceStates = [
  'running',
  'unhealthy',
  'crash_looping',
  'stopped',
  'unknown',
] as const

export type Live = NonNullable<ReturnType<typeof liveOf>>
export type LiveInstance = Live['instances'][number]

/** The live deployment of an environment, also while stopped; null when nothing was deployed. */
export function liveOf(deps: LiveDeps, { id, projectId }: { id: string; projectId: string }) {
  const { db } = deps
  const release = getLiveRelease(db, id)
  if (!release) return null
  const image = getDeployedImage(db, release.id)
  const services = image === null ? [] : listServiceImages(db, image)
  const imageOf = (process: string) => {
    const [, own] =
      services.find(([name, of]) => process === (of.image === image ? web : name)) ?? []
    return own?.reference ?? own?.image ?? image
  }
  const network = networkNameOf({ id, projectId })
  const addresses = new Map([overlayOf(network), network].flatMap((on) => [...listHeld(db, on)]))
  const instances = listLiveInstances(db, id).map(
    ({ id, component: process, containerId, serverId, ...one }) => {
      const state = stateOf(deps, { ...one, containerId, serverId })
      /** On the project's network, or on the one that spans servers. */
      const address = addresses.get(id) ?? null
      /** As a Compose file names it, else its name on the engine; null once it was removed. */
      const image = imageOf(process)
      return { process, containerId, serverId, state, address, image }
    },
  )
  return { deploymentId: release.id, instances }
}

type Stored = { containerId: string | null; serverId: string; state: string }

/** Of one of the live release. */
export function stateOf(
  { observed, engines }: Omit<LiveDeps, 'db'>,
  { containerId, serverId, state }: Stored,
): (typeof instanceStates)[number] {
  if (state === 'stopped') return state
  if (engines.isAway({ serverId })) return 'unknown'
  if (containerId !== null && observed.isLooping(containerId)) return 'crash_looping'
  return state === 'unhealthy' ? state : 'running'
}
