import { backupsUnderWrites } from '../faults/backups.ts'
import { cancels } from '../faults/cancels.ts'
import { fillTheDisk } from '../faults/disk-full.ts'
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
import { webhookStorm } from '../faults/webhook-storm.ts'

type Scenario = (options: { command: string[] }) => Promise<FaultReport>

/** What is done to Davit on purpose, as often as is promised; those without `command` run its source. */
export const faults: Record<string, Scenario> = {
  kills: ({ command }) => kills({ command, rounds: 20 }),
  'kill-loop': ({ command }) => killLoop({ command, rounds: 120 }),
  cancels: ({ command }) => cancels({ command, rounds: 20 }),
  shutdowns: ({ command }) => shutdowns({ command, rounds: 6, viewers: 50, requests: 20 }),
  'coming-back': ({ command }) =>
    viewersComeBack({ command, rounds: 4, lines: 100_000, viewers: 50, leaves: 20 }),
  stalled: ({ command }) => stalledReaders({ command, readers: 100, lines: 100_000, seconds: 60 }),
  'odd-lines': ({ command }) => oddLines({ command, megabytes: 100, emptyLines: 10_000_000 }),
  'webhook-storm': ({ command }) => webhookStorm({ command, rounds: 200 }),
  'greedy-builds': ({ command }) => greedyBuilds({ command, rounds: 10 }),
  'full-disk': () => fillTheDisk({ rounds: 5 }),
  backups: () => backupsUnderWrites({ rounds: 100 }),
  'slow-headers': () => slowHeaders({ rounds: 5000 }),
  'signature-timing': async () => signatureTiming({ rounds: 21 }),
  soak: ({ command }) => soak({ command, seconds: 600 }),
}
