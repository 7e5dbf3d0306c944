import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from './assemble.ts'
import { dropOldEvents } from './audit/store.ts'
import { keepPlans } from './backups/start.ts'
import { keepSchedule } from './containers/clean-up/schedule.ts'
import { sampleUsage } from './containers/usage/sampler.ts'
import type { DiskReserve } from './db/disk-reserve.ts'
import type { Db } from './db/index.ts'
import { keepFreezes } from './deployments/keep-freezes.ts'
import { keepPlanned } from './deployments/planned.ts'
import { keepLogs } from './logs/retention.ts'
import { keepPreviews } from './previews/keep.ts'
import { dropOldNotices } from './notifications/store.ts'
import { reported } from './platform/journal.ts'
import { watchEdge } from './runtime/edge-container.ts'
import { keepSchedules } from './schedules/start.ts'
import { endLeftSwarm } from './servers/swarm.ts'
import { keepTraffic } from './traffic/collect.ts'
import { bringBack } from './webhooks/replay.ts'
import { listReturning } from './webhooks/store.ts'

/** Milliseconds between the starts of two tasks, so that requests are answered in between. */
const pause = 50

/** All that a server does beside requests and jobs, until the signal. Loaded once it is ready. */
export async function keepUp(
  deps: Deps,
  reserve: DiskReserve,
  { signal }: { signal: AbortSignal },
) {
  const { scheduler } = deps
  const hourly = (drop: (db: Db) => void, failed: string) =>
    scheduler.repeat(3_600_000, () => drop(deps.db), { signal, failed })
  const tasks = [
    () => deps.edge.run({ signal }),
    () => watchEdge(deps, { signal }),
    () => sampleUsage(deps, { signal }),
    () => endLeftSwarm(deps, { signal }),
    () => deps.server.run(scheduler, { signal }),
    () => deps.serverEngines.keepMeasured(scheduler, { signal }),
    () => deps.certificates.run({ signal }),
    () => reserve.keep(scheduler, { signal }),
    () => deps.diskGuard.run(scheduler, { signal }),
    () => keepSchedule(deps, { signal }),
    () => keepSchedules(deps, { signal }),
    () => keepPlans(deps, { signal }),
    () => keepPlanned(deps, { signal }),
    () => keepFreezes(deps, { signal }),
    () =>
      keepPreviews(deps, {
        signal,
        listReturning: () => listReturning(deps.db),
        bringBack: (of) => bringBack(deps, of),
      }),
    () => deps.drains.run({ signal }),
    () => deps.outbox.run({ signal }),
    () => hourly(dropOldEvents, 'old events were not removed'),
    () => hourly(dropOldNotices, 'old notifications were not removed'),
    () => keepLogs(deps, { signal }),
    () => keepTraffic(deps, { signal }),
    () => deps.checks.run({ signal }),
    () => deps.releases.run(scheduler, { signal }),
    () => deps.images.run(scheduler, { signal }),
  ]
  const started: Promise<void>[] = []
  for (const start of tasks) {
    await sleep(pause)
    if (signal.aborted) break
    started.push(reported(start()))
  }
  await Promise.all(started)
}
