import { exhaust } from './exhaustion/exhaustion.ts'
import { backupsUnderWrites } from '../faults/backups.ts'
import { cancels } from '../faults/cancels.ts'
import { fillTheDisk } from '../faults/disk-full.ts'
import { restartTheEngine } from '../faults/engine-restarts.ts'
import {
  deploysUnderLoad,
  failuresUnderLoad,
  killsUnderLoad,
  rollbacksUnderLoad,
} from '../faults/edge-deploys.ts'
import { engineUnderEdge } from '../faults/edge-engine.ts'
import { newInstanceDies, socketGone } from '../faults/edge-odd.ts'
import { caddyUnderLoad, hostsUnderLoad, instancesUnderLoad } from '../faults/edge-parts.ts'
import { greedyBuilds } from '../faults/greedy-builds.ts'
import { killLoop } from '../faults/kill-loop.ts'
import { kills } from '../faults/kills.ts'
import { oddLines } from '../faults/log-odd-lines.ts'
import { stalledReaders } from '../faults/log-stalled.ts'
import { viewersComeBack } from '../faults/log-viewers.ts'
import type { FaultReport } from '../faults/report.ts'
import { shutdowns } from '../faults/shutdown.ts'
import { signatureTiming } from '../faults/signature-timing.ts'
import { slowHeaders } from '../faults/slow-headers.ts'
import { soak } from '../faults/soak.ts'
import { killUpgrades } from '../faults/upgrades.ts'
import { webhookStorm } from '../faults/webhook-storm.ts'

type Scenario = (options: { command: string[] }) => Promise<FaultReport | FaultReport[]>

/**
 * What is done to Davit on purpose, as often as fits into a quarter of an hour; those without
 * `command` run its source.
 */
export const faults: Record<string, Scenario> = {
  kills: ({ command }) => kills({ command, rounds: 20 }),
  'kill-loop': ({ command }) => killLoop({ command, rounds: 20 }),
  cancels: ({ command }) => cancels({ command, rounds: 5 }),
  shutdowns: ({ command }) => shutdowns({ command, rounds: 4, viewers: 50, requests: 20 }),
  'coming-back': ({ command }) =>
    viewersComeBack({ command, rounds: 2, lines: 100_000, viewers: 50, leaves: 20 }),
  stalled: ({ command }) => stalledReaders({ command, readers: 100, lines: 100_000, seconds: 60 }),
  'odd-lines': ({ command }) => oddLines({ command, megabytes: 50, emptyLines: 200_000 }),
  'webhook-storm': ({ command }) => webhookStorm({ command, rounds: 20 }),
  'greedy-builds': ({ command }) => greedyBuilds({ command, rounds: 4 }),
  'engine-restarts': ({ command }) => restartTheEngine({ command, rounds: 4 }),
  'edge-deploys': ({ command }) => deploysUnderLoad({ command, rounds: 50 }),
  'edge-rollbacks': ({ command }) => rollbacksUnderLoad({ command, rounds: 20 }),
  'edge-gates': ({ command }) => failuresUnderLoad({ command, rounds: 20 }),
  'edge-kills': ({ command }) => killsUnderLoad({ command, rounds: 10 }),
  'edge-instances': ({ command }) => instancesUnderLoad({ command, rounds: 10 }),
  'edge-new-instances': ({ command }) => newInstanceDies({ command, rounds: 10 }),
  'edge-hosts': ({ command }) => hostsUnderLoad({ command, rounds: 20 }),
  'edge-caddy': ({ command }) => caddyUnderLoad({ command, rounds: 3 }),
  'edge-socket': ({ command }) => socketGone({ command, rounds: 3 }),
  'edge-engine': ({ command }) => engineUnderEdge({ command, rounds: 4 }),
  'full-disk': () => fillTheDisk({ rounds: 3 }),
  upgrades: () => killUpgrades({ rounds: 10 }),
  backups: () => backupsUnderWrites({ rounds: 20 }),
  'slow-headers': () => slowHeaders({ rounds: 500 }),
  'signature-timing': async () => signatureTiming({ rounds: 7 }),
  exhaustion: ({ command }) => exhaust({ command }),
  soak: ({ command }) => soak({ command, seconds: 60 }),
}
