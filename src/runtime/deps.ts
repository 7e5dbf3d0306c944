import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { ContainerKey, Docker, Engines } from '../docker/index.ts'
import type { Edge } from '../edge/edge.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Trace } from '../platform/trace.ts'
import type { InstanceTasks } from './instance-tasks.ts'
import type { ObservedContainers } from './observed-containers.ts'
import type { Routing } from './routing.ts'
import type { ServerList } from './on-engine.ts'
import type { Runtime } from './runtime.ts'
import type { WorkloadLocks } from './workload-locks.ts'

export type RuntimeDeps = {
  db: Db
  engines: Engines
  /** Of the server that Davit runs on: for images, networks, and what else isn't one container's. */
  docker: Docker
  runtime: Runtime
  serverList: ServerList
  secrets: Secrets
  config: Pick<
    Config,
    'networkPool' | 'overlayEncrypted' | 'settleTime' | 'registry' | 'allowHosts'
  >
  edge: Pick<Edge, 'isOn' | 'mode' | 'ready' | 'sync' | 'drained' | 'others'>
  observed: Pick<ObservedContainers, 'inspect' | 'inspectAt' | 'condition'>
  routing: Routing
  locks: WorkloadLocks
  instanceTasks: InstanceTasks
  collector: {
    /** Resolves when the container's output is stored, or its log says that lines may be missing. */
    finish: (container: ContainerKey) => Promise<void>
  }
  instanceId: string
  /** Notes what a deployment takes; only it has one. */
  trace?: Trace | undefined
}
