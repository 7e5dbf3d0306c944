import type { Abortable, Engine } from './engine.ts'

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

/** How long the certificate of a member lasts, in milliseconds, and that of the authority in PEM. */
export async function swarmCertificates(engine: Engine, { signal }: Abortable = {}) {
  type Swarm = { Spec: { CAConfig: { NodeCertExpiry: number } }; TLSInfo: { TrustRoot: string } }
  const { Spec, TLSInfo } = await engine.request<Swarm>('GET', '/swarm', { signal })
  return { lasts: Spec.CAConfig.NodeCertExpiry / 1e6, root: TLSInfo.TrustRoot }
}
