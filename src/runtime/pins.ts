import type { Db } from '../db/index.ts'
import type { Placement } from '../db/schema.ts'
import type { Engines } from '../docker/index.ts'
import { conflictField } from '../platform/errors.ts'
import { getServer } from '../servers/store.ts'
import type { ServerList } from './on-engine.ts'
import { pinnedTo } from './pin-store.ts'
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
  const there = kind === 'app' ? 'another environment' : 'a new service'
  throw conflictField(
    'placement',
    `Its volumes are on ${server.name}. To use them on another server, back it up, and restore it into ${there} there.`,
  )
}

export type Pin = { server: string; isAway: boolean; hasVolumes: boolean }

/** The server where its volumes are, else that it is placed on; null while there is one server. */
export function pinOf(
  { db, engines }: { db: Db; engines: Pick<Engines, 'isAway'> },
  { id, placedOn = null }: { id: string; placedOn?: string | null },
): Pin | null {
  const pinned = pinnedTo(db, id)
  const serverId = pinned ?? placedOn
  const server = serverId && getServer(db, serverId)
  if (!server) return null
  const isAway = engines.isAway({ serverId: server.id })
  return { server: server.name, isAway, hasVolumes: pinned !== null }
}
