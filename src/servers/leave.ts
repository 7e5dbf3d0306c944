import { labelFilter, readLabels } from '../docker/labels.ts'
import type { Docker, Engines } from '../docker/index.ts'
import type { Edge } from '../edge/edge.ts'
import { AppError } from '../platform/errors.ts'
import { firstServer } from '../platform/root.ts'
import { listUsers, updateServer } from './store.ts'
import type { Server } from './store.ts'
import { endLoneSwarm } from './swarm.ts'
import type { SwarmDeps } from './swarm.ts'

/** An app or a service with containers on a server. */
export type Resident = {
  id: string
  kind: 'environment' | 'service'
  name: string
  href: string
  /** What keeps it on the server, with what to do about it; null if it can run elsewhere. */
  stays: { why: string; todo: string } | null
}

export type LeaveDeps = SwarmDeps & {
  engines: Engines
  edge: Pick<Edge, 'others'>
  /** Counts what is on a server as removed. */
  giveUp: (serverId: string) => void
  /** What is on a server, and what could not run elsewhere. */
  previewDrain: (server: { id: string }) => Promise<Resident[]>
}

/** Milliseconds for open requests of an edge there. */
const endTime = 90_000

export const usedTodo = 'Drain it, and move or delete what stays there.'

/** Undoes the join, also when it was interrupted before. The last one ends a swarm that Davit began. */
export async function removeServer(
  deps: LeaveDeps,
  server: Pick<Server, 'id' | 'name' | 'nodeId'>,
  { givesUp }: { givesUp: boolean },
) {
  const { docker, edge, engines, instanceId, serverEngines } = deps
  if (server.id === firstServer) throw new AppError('conflict', 'Davit itself runs on this server.')
  using _ = await serverEngines.turn.acquire()
  const known = engines.all.find(({ serverId }) => serverId === server.id)
  const there = known && !engines.isAway(known) ? known : null
  const labels = labelFilter(instanceId)
  const listed = (await there?.listVolumes({ labels })) ?? []
  const volumes = listed.filter((volume) => readLabels(volume.labels).kind !== 'edge')
  if (volumes.length > 0)
    throw new AppError(
      'conflict',
      `It has volumes of apps or services: ${volumes.map(({ name }) => name).join(', ')}. Delete these first.`,
    )
  const isGivenUp = givesUp && !there // it may be back by now
  const users = isGivenUp ? [] : listUsers(deps.db, server.id) // one may have come meanwhile
  if (users.length > 0)
    throw new AppError(
      'conflict',
      `The server ${server.name} is now used by ${users.map(({ name }) => name).join(', ')}. ${usedTodo}`,
    )
  updateServer(deps.db, server.id, { isDraining: true }) // interrupted, it may have left the swarm
  const signal = AbortSignal.timeout(endTime)
  using _ended = there && (await edge.others?.end(server.id, { signal }))
  if (there && (await isStillIn(there, server))) await there.leaveSwarm()
  if (server.nodeId) await docker.removeNode(server.nodeId)
  if (isGivenUp) deps.giveUp(server.id)
  serverEngines.remove(server)
  await endLoneSwarm(deps)
}

/** It may have joined the swarm of another Davit since. A node that is down, and one of a restore, is unknown. */
async function isStillIn(there: Docker, { nodeId }: Pick<Server, 'nodeId'>) {
  const { nodeId: now } = await there.swarmState()
  return !nodeId || !now || now === nodeId
}
