import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import type { Docker } from '../docker/index.ts'
import { instanceLabel } from '../docker/labels.ts'
import { firstServer } from '../platform/root.ts'
import type { ServerEngines } from './server-engines.ts'
import {
  deleteServer,
  dropPlacementsOn,
  factsOf,
  getServer,
  insertServer,
  listServers,
  serverRoles,
  updateServer,
} from './store.ts'

export type SwarmDeps = {
  db: Db
  docker: Docker
  config: Pick<Config, 'clusterAddress'>
  instanceId: string
  serverEngines: ServerEngines
}

export type SwarmState = Awaited<ReturnType<Docker['swarmState']>>

/** True for a swarm that Davit began: it has its label from its first moment, whenever Davit is killed. */
export async function isOurs({ db, docker, instanceId }: SwarmDeps, own: SwarmState) {
  if (!own.isManager) return false
  if (getServer(db, firstServer)?.hasBegunSwarm) return true
  return (await docker.getSwarm()).labels[instanceLabel] === instanceId
}

/** The swarm of Davit’s own server, which is begun with the first other one. */
export async function ensureSwarm(deps: SwarmDeps, own: SwarmState, undo: AsyncDisposableStack) {
  const { db, docker, config, instanceId } = deps
  const address = config.clusterAddress!
  if (!own.isMember) {
    await docker.beginSwarm({ address, labels: { [instanceLabel]: instanceId } })
    undo.defer(() => docker.leaveSwarm())
  }
  const state = own.isMember ? own : await docker.swarmState()
  if (!getServer(db, firstServer)) {
    const { hostname: name, nodeId } = state
    const hasBegunSwarm = await isOurs(deps, state)
    const row = { id: firstServer, name, address, roles: [...serverRoles], nodeId, hasBegunSwarm }
    insertServer(db, { ...row, ...factsOf(await docker.info()) })
    undo.defer(async () => void deleteServer(db, firstServer))
  } else if (!own.isMember)
    updateServer(db, firstServer, { nodeId: state.nodeId, hasBegunSwarm: true })
  return { address: state.address }
}

/** Ends a swarm that Davit began when no other server is in it. */
export async function endLoneSwarm(deps: SwarmDeps) {
  const [own, ...others] = listServers(deps.db)
  if (others.length > 0) return
  if (await isOurs(deps, await deps.docker.swarmState())) await deps.docker.leaveSwarm()
  if (!own) return
  deps.db.transaction((tx) => {
    dropPlacementsOn(tx, own)
    deleteServer(tx, own.id)
  })
}

/** What a Davit that was killed left of the first join, or of the last removal. */
export async function endLeftSwarm(deps: SwarmDeps, { signal }: { signal: AbortSignal }) {
  const options = { signal, failed: 'a swarm without other servers may be left' }
  await retryWhileEngineDown(deps.docker, options, async () => {
    using _ = await deps.serverEngines.turn.acquire(signal)
    await endLoneSwarm(deps)
  })
}
