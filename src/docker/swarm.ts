import type { Abortable, Engine } from './engine.ts'
import { EngineError } from './failures.ts'
import { isStatus, orNull, unlessMissing } from './refusals.ts'

type Info = {
  ID: string
  Name: string
  LiveRestoreEnabled?: boolean
  Plugins: { Network: string[] | null }
  Swarm: {
    LocalNodeState: string
    NodeID: string
    NodeAddr: string
    ControlAvailable: boolean
    RemoteManagers: { Addr: string }[] | null
  }
}

/** Swarm connects engines: membership and networks across them. Davit uses neither its services nor its updater. */
export async function swarmState(engine: Engine, { signal }: Abortable = {}) {
  const info = await engine.request<Info>('GET', '/info', { signal })
  const { LocalNodeState, NodeID, NodeAddr, ControlAvailable, RemoteManagers } = info.Swarm
  return {
    /** Of the engine; in copies of a machine it is the same. */
    engineId: info.ID,
    hostname: info.Name,
    isMember: LocalNodeState !== 'inactive',
    isManager: ControlAvailable,
    nodeId: NodeID,
    /** Where the other members reach it; empty outside of a swarm. */
    address: NodeAddr,
    /** Where it knows managers, also of a swarm that has ended. */
    managers: (RemoteManagers ?? []).map(({ Addr }) => Addr.replace(/:\d+$/, '')),
    hasOverlay: info.Plugins.Network?.includes('overlay') ?? false,
    hasLiveRestore: info.LiveRestoreEnabled ?? false,
  }
}

const listening = (address: string) => ({
  ListenAddr: `${address}:2377`,
  AdvertiseAddr: address,
  DataPathAddr: address,
})

/** Nanoseconds between signs of life: without three of them a member is down, which by default takes 15 s. */
const heartbeat = { Dispatcher: { HeartbeatPeriod: 3e9 } }

export const beginSwarm = (
  engine: Engine,
  { address, labels, signal }: { address: string; labels: Record<string, string> } & Abortable,
) => {
  const body = { ...listening(address), Spec: { ...heartbeat, Labels: labels } }
  return engine.request<string>('POST', '/swarm/init', { body, signal })
}

type SentSwarm = {
  Spec: { Labels: Record<string, string> | null; CAConfig: { NodeCertExpiry: number } }
  JoinTokens: { Worker: string }
  TLSInfo: { TrustRoot: string }
}

/** The one that this engine manages. */
export async function getSwarm(engine: Engine, { signal }: Abortable = {}) {
  const { Spec, JoinTokens, TLSInfo } = await engine.request<SentSwarm>('GET', '/swarm', { signal })
  return {
    labels: Spec.Labels ?? {},
    /** The secret that lets a worker in. */
    workerToken: JoinTokens.Worker,
    /** How long the certificate of a member lasts, in milliseconds, and that of the authority in PEM. */
    lasts: Spec.CAConfig.NodeCertExpiry / 1e6,
    root: TLSInfo.TrustRoot,
  }
}

/** Lets a member into the swarm of a manager, as a worker. */
export async function joinSwarm(
  engine: Engine,
  {
    address,
    manager,
    token,
    signal,
  }: { address: string; manager: string; token: string } & Abortable,
) {
  const body = { ...listening(address), RemoteAddrs: [`${manager}:2377`], JoinToken: token }
  await engine.request('POST', '/swarm/join', { body, signal })
}

const notMember = 503

/** Also when it is the last manager, whose swarm ends with that. */
export async function leaveSwarm(engine: Engine, { signal }: Abortable = {}) {
  await engine
    .request('POST', '/swarm/leave', { query: { force: true }, signal })
    .catch((error) => {
      if (!(error instanceof EngineError) || !isStatus(error, notMember)) throw error
    })
}

type SentNode = {
  ID: string
  Spec: { Role: string }
  Description: { Hostname: string }
  Status: { State: string }
  ManagerStatus?: { Reachability: string }
}

/** All members, as a manager knows them. */
export async function listNodes(engine: Engine, { signal }: Abortable = {}) {
  const found = await engine.request<SentNode[]>('GET', '/nodes', { signal })
  return found.map(({ ID, Spec, Description, Status, ManagerStatus }) => ({
    id: ID,
    hostname: Description.Hostname,
    isReady: Status.State === 'ready',
    isManager: Spec.Role === 'manager',
    /** Of a manager: true when it takes part in decisions. */
    isReachable: ManagerStatus?.Reachability === 'reachable',
  }))
}

/** Null when the swarm of this manager doesn’t have it. */
export async function getNode(engine: Engine, id: string, { signal }: Abortable = {}) {
  const path = `/nodes/${encodeURIComponent(id)}`
  const node = await orNull(engine.request<{ Status: { State: string } }>('GET', path, { signal }))
  return node && { isReady: node.Status.State === 'ready', isDown: node.Status.State === 'down' }
}

export const removeNode = (engine: Engine, id: string, { signal }: Abortable = {}) =>
  unlessMissing(
    engine.request('DELETE', `/nodes/${encodeURIComponent(id)}`, {
      query: { force: true },
      signal,
    }),
  )
