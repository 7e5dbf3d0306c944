import type { Placement } from '../db/schema.ts'
import { conflictField } from '../platform/errors.ts'
import type { ServerList } from './on-engine.ts'
import { isNamed } from './placement.ts'
import type { WorkloadKey } from './workload.ts'

export { listPinned, pinnedTo, pinTo, unpinFrom } from './pin-store.ts'

/** Throws `conflict` for a placement on servers that don’t have its volumes. */
export function refuseElsewhere(
  servers: Pick<ServerList, 'list' | 'pinnedTo'>,
  { id, kind }: WorkloadKey,
  placement: Placement | null,
) {
  const pinned = servers.pinnedTo(id)
  const [own, ...others] = servers.list()
  const server = [own!, ...others].find((one) => one.id === pinned)
  if (!server || isNamed(server, placement ?? { server: own!.id })) return
  const path = kind === 'app' ? 'envs' : 'services'
  throw conflictField(
    'placement',
    `Its volumes are on ${server.name}. Move it instead: POST /${path}/${id}/move.`,
  )
}
