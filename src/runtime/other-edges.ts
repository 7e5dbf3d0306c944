import type { Config } from '../config.ts'
import { OtherEdges } from '../edge/other-edges.ts'
import type { OtherEdgesDeps } from '../edge/other-edges.ts'
import { listEdgeServers } from '../servers/store.ts'
import type { RuntimeDeps } from './deps.ts'
import { certificateFiles } from './edge-certificates.ts'
import { otherEdgeEngine } from './other-edge-engine.ts'

type Deps = Pick<RuntimeDeps, 'db' | 'docker' | 'engines' | 'instanceId'> & {
  config: Pick<Config, 'clusterAddress' | 'edgePorts'>
  /** Of Davit's own edge. */
  folder: string
} & Pick<OtherEdgesDeps, 'issued'>

/** The edges of the other servers that are stored. */
export const otherEdges = (deps: Deps, { quietTime }: { quietTime: number | undefined }) => {
  const { db, folder, issued } = deps
  const { clusterAddress, edgePorts } = deps.config
  return new OtherEdges({
    folder,
    list: () => listEdgeServers(db),
    home: () => clusterAddress && `${clusterAddress}:${edgePorts.http}`,
    engineOf: (serverId) => otherEdgeEngine(deps, serverId),
    issued,
    readCertificates: (options) => certificateFiles(deps, options),
    ...(quietTime !== undefined && { quietTime }),
  })
}
