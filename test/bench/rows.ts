import { benchBackups } from './backups.ts'
import { benchBackupStream } from './backup-stream.ts'
import { benchCollection } from './collection.ts'
import { benchContainerLogs } from './container-logs.ts'
import { benchContainers } from './containers.ts'
import { benchDashboard } from './dashboard.ts'
import { benchDeploy, benchEdgeDeploy, benchLargeRepository } from './deploy.ts'
import { benchDeploymentLogMemory } from './deployment-log-memory.ts'
import { benchDeploymentLog } from './deployment-log.ts'
import { benchDeploymentReaders } from './deployment-readers.ts'
import { benchEdgeMemory } from './edge-memory.ts'
import { benchEdge } from './edge.ts'
import { benchGoingBack } from './going-back.ts'
import { benchJoined } from './joined.ts'
import { benchLinks } from './links.ts'
import { benchMemory } from './memory.ts'
import type { Row } from './ratio.ts'
import { benchPages } from './pages.ts'
import { benchRest } from './rest.ts'
import { benchRollback } from './rollback.ts'
import { benchServers } from './servers.ts'
import { benchServices } from './services.ts'
import { benchStalledViewers } from './stalled-viewers.ts'
import { benchStart } from './start.ts'
import { benchSwarmDeploy } from './swarm-deploy.ts'
import { benchTerminal } from './terminal.ts'
import { benchViewers } from './viewers.ts'
import { benchWebhooks } from './webhooks.ts'

type Bench = (directory: string, executable: string) => Promise<Row | Row[]>

/** What `assets/docs/measurements.md` has first, and then the rest; by the names under which each can be run alone. */
export const parts: { title: string; rows: Record<string, Bench> }[] = [
  {
    title: 'What counts most',
    rows: {
      deploy: benchDeploy,
      repository: benchLargeRepository,
      'deployment-log': (_, executable) => benchDeploymentLog([executable]),
      'deployment-readers': (_, executable) => benchDeploymentReaders([executable]),
      dashboard: benchDashboard,
      pages: benchPages,
      memory: benchMemory,
      'log-memory': benchDeploymentLogMemory,
      start: benchStart,
      rest: benchRest,
    },
  },
  {
    title: 'The edge',
    rows: {
      'edge-deploy': benchEdgeDeploy,
      'edge-requests': benchEdge,
      'edge-rollback': benchRollback,
      'going-back': benchGoingBack,
      'edge-memory': benchEdgeMemory,
    },
  },
  {
    title: 'The rest',
    rows: {
      webhooks: benchWebhooks,
      collection: benchCollection,
      containers: benchContainers,
      'container-logs': (directory, executable) => benchContainerLogs(directory, [executable]),
      viewers: (directory, executable) => benchViewers(directory, [executable]),
      'stalled-viewers': (directory, executable) => benchStalledViewers(directory, [executable]),
      services: benchServices,
      servers: benchServers,
      joined: benchJoined,
      'swarm-deploy': benchSwarmDeploy,
      links: benchLinks,
      terminal: benchTerminal,
      backups: benchBackups,
      'backup-stream': benchBackupStream,
    },
  },
]
