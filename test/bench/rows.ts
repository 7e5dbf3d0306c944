import { benchCollection } from './collection.ts'
import { benchContainerLogs } from './container-logs.ts'
import { benchContainers } from './containers.ts'
import { benchDashboard } from './dashboard.ts'
import { benchDeploy, benchLargeRepository } from './deploy.ts'
import { benchDeploymentLogMemory } from './deployment-log-memory.ts'
import { benchDeploymentLog } from './deployment-log.ts'
import { benchDeploymentReaders } from './deployment-readers.ts'
import { benchLinks } from './links.ts'
import { benchMemory } from './memory.ts'
import type { Row } from './ratio.ts'
import { benchServices } from './services.ts'
import { benchStalledViewers } from './stalled-viewers.ts'
import { benchStart } from './start.ts'
import { benchTerminal } from './terminal.ts'
import { benchViewers } from './viewers.ts'
import { benchWebhooks } from './webhooks.ts'

type Bench = (directory: string, executable: string) => Promise<Row | Row[]>

/** What the README promises first, and then the rest; by the names under which each can be run alone. */
export const parts: { title: string; rows: Record<string, Bench> }[] = [
  {
    title: 'What counts most',
    rows: {
      deploy: benchDeploy,
      repository: benchLargeRepository,
      'deployment-log': (_, executable) => benchDeploymentLog([executable]),
      'deployment-readers': (_, executable) => benchDeploymentReaders([executable]),
      dashboard: benchDashboard,
      memory: benchMemory,
      'log-memory': benchDeploymentLogMemory,
      start: benchStart,
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
      links: benchLinks,
      terminal: benchTerminal,
    },
  },
]
