import type { Db } from '../db/index.ts'
import type { Placement } from '../db/schema.ts'
import { conflictField } from '../platform/errors.ts'
import { isNamed, listServers, nameOf } from '../servers/store.ts'
import type { ServerList } from './on-engine.ts'
import { getMove } from './move-store.ts'
import { pinnedTo } from './pin-store.ts'
import { isWanted, listInstances } from './store.ts'
import type { WorkloadKey } from './workload.ts'

export { listPinned, pinnedTo, pinTo, pinUnlessPinned, unpinFrom } from './pin-store.ts'

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
  const orRestore =
    kind === 'app'
      ? ', or, if it is of a Compose file, restore a backup into another environment there'
      : ''
  throw conflictField(
    'placement',
    `Its volumes are on ${server.name}. Move it to another server with them${orRestore}.`,
  )
}

/**
 * After a restore of Davit: true of what should run on a server that wasn’t reached, and of what has volumes and was
 * found nowhere, as it may have been moved to such a server since the backup.
 */
export function mayBeOutOfReach(
  db: Db,
  workloadId: string,
  { reached, isFound }: { reached: ReadonlySet<string>; isFound: boolean },
) {
  const isThere = listInstances(db, workloadId).some(
    (one) => isWanted(one) && !reached.has(one.serverId),
  )
  if (isThere) return true
  if (isFound || pinnedTo(db, workloadId) === null) return false
  return listServers(db).some(({ id }) => !reached.has(id))
}

export type Pin = {
  server: string
  hasVolumes: boolean
  /** What it had before its last move is there until then; or, where that failed, the copy that it had run with. */
  left: { server: string; until: Date; isCopy: boolean } | null
}

/** The server where its volumes are, else that it is placed on; null while there is one server. */
export function pinOf(
  db: Db,
  { id, placedOn = null }: { id: string; placedOn?: string | null },
): Pin | null {
  const pinned = pinnedTo(db, id)
  const serverId = pinned ?? placedOn
  const server = serverId && nameOf(db, serverId)
  if (!server) return null
  const { leftOn = null, leftUntil = null, to } = getMove(db, id) ?? {}
  const on = leftOn && leftUntil ? nameOf(db, leftOn) : null
  const left = on ? { server: on, until: new Date(leftUntil!), isCopy: leftOn === to } : null
  return { server, hasVolumes: pinned !== null, left }
}
