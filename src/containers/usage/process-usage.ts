import type { Db, LogDb } from '../../db/index.ts'
import type { ContainerUsage } from '../../docker/index.ts'
import type { Range } from '../../web/plot.ts'
import type { UsagePoller } from './poller.ts'
import { boundsOf } from './sample-history.ts'
import type { Figure } from './sample-history.ts'
import { listContainers, listSamples } from './sample-store.ts'
import type { Sample } from './sample-store.ts'
import { samplesJson } from './shown.ts'

/** Older containers have hardly any samples left within a week. */
const newest = 200

export type WorkloadUsage = ReturnType<typeof usageOf>
export type Use = WorkloadUsage['total']

export type UsageDeps = { db: Db; logDb: LogDb; usage: UsagePoller }

/**
 * Sums the samples of an environment or service by process and in total. Processes are
 * in the order in which they first ran, as in the logs, so that they have the same
 * colours there; those without data in the range are omitted.
 */
export function usageOf(
  { db, logDb, usage }: UsageDeps,
  { workloadId, range }: { workloadId: string; range: Range },
) {
  const bounds = boundsOf(range)
  const containers = listContainers(db, workloadId, newest)
  const samples = Map.groupBy(
    listSamples(logDb, {
      ...bounds,
      containerIds: containers.map(({ containerId }) => containerId),
      after: bounds.from,
    }),
    ({ containerId }) => containerId,
  )
  const useOf = (some: typeof containers) => ({
    now: together(some.flatMap(({ containerId }) => usage.latest(containerId)?.usage ?? [])),
    history: {
      ...bounds,
      samples: summed(some.flatMap(({ containerId }) => samples.get(containerId) ?? [])),
    },
  })
  const processes = [...Map.groupBy(containers.toReversed(), ({ process }) => process)]
    .map(([process, some]) => ({ process, ...useOf(some), isThere: some.some(isThere) }))
    .filter(({ isThere, history }) => isThere || history.samples.length > 0)
    .map(({ isThere: _, ...use }) => use)
  return { processes, total: useOf(containers) }
}

const isThere = ({ isRemoved }: { isRemoved: boolean }) => !isRemoved

/** Null unless one is running and was measured. */
function together(usages: ContainerUsage[]) {
  if (usages.length === 0) return null
  const sum = (of: 'cpu' | 'memory' | 'memoryLimit') =>
    usages.reduce((total, usage) => total + usage[of], 0)
  return {
    containers: usages.length,
    cpu: sum('cpu'),
    memory: sum('memory'),
    memoryLimit: sum('memoryLimit'),
  }
}

function summed(samples: Sample[]): Sample[] {
  const byTime = new Map<number, Sample>()
  for (const { time, cpu, memory, received, sent, read, written, pids } of samples) {
    const figures = { cpu, memory, received, sent, read, written, pids }
    const sum = byTime.get(time)
    if (!sum) byTime.set(time, { time, ...figures })
    else for (const name of Object.keys(figures) as Figure[]) sum[name] += figures[name]
  }
  return [...byTime.values()].sort((a, b) => a.time - b.time)
}

export const workloadUsageJson = ({ processes, total }: WorkloadUsage) => {
  const { range, span } = total.history
  const json = ({ now, history }: Use) => ({ now, samples: samplesJson(history) })
  return {
    range,
    span,
    processes: processes.map(({ process, ...use }) => ({ process, ...json(use) })),
    total: json(total),
  }
}
