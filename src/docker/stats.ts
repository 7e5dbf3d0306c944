import { Failure } from '../platform/errors.ts'
import type { Abortable, Engine } from './engine.ts'
import { engineMachine } from './info.ts'
import { orNull } from './refusals.ts'

export type StatsReading = NonNullable<ReturnType<typeof toReading>>

type Transfers = Pick<StatsReading, 'received' | 'sent' | 'read' | 'written'>

export type ContainerUsage = ReturnType<typeof usageBetween>

type Sent = {
  read: string
  cpu_stats: {
    cpu_usage: { total_usage: number; percpu_usage?: number[] | null }
    system_cpu_usage?: number
    online_cpus?: number
  }
  memory_stats: { usage?: number; limit?: number; stats?: Record<string, number> }
  blkio_stats: { io_service_bytes_recursive?: { op: string; value: number }[] | null }
  networks?: Record<string, { rx_bytes: number; tx_bytes: number }>
  pids_stats: { current?: number }
}

/** Null for a container that doesn't run: the engine returns zeros. Throws if it can't measure containers. */
export async function containerStats(engine: Engine, id: string, { signal }: Abortable = {}) {
  if (!(await engineMachine(engine, { signal })).measures) throw unmeasured()
  const path = `/containers/${encodeURIComponent(id)}/stats`
  // engines before API 1.41 don't support `one-shot`: they respond the same after two seconds
  const query = { stream: false, 'one-shot': true }
  const sent = await orNull(engine.request<Sent>('GET', path, { query, signal, timeout: 10_000 }))
  return sent && toReading(sent)
}

const unmeasured = () =>
  new Failure(
    'engine_unmeasured',
    'Docker doesn’t measure what containers use, because it has no control groups.',
    'Use control groups v2, delegated to the user that runs Docker.',
  )

/** The counters of a container at one moment, in nanoseconds and bytes since it started. */
export function toReading(sent: Sent) {
  const { cpu_stats: cpu, memory_stats: memory } = sent
  if (cpu.system_cpu_usage === undefined || memory.usage === undefined) return null
  const networks = Object.values(sent.networks ?? {})
  return {
    readAt: new Date(sent.read),
    cpuTotal: cpu.cpu_usage.total_usage,
    /** The total time of all processors of the machine. */
    systemCpu: cpu.system_cpu_usage,
    onlineCpus: cpu.online_cpus ?? cpu.cpu_usage.percpu_usage?.length ?? 1,
    /** Without the page cache, as in `docker stats`. */
    memory: withoutCache(memory.usage, memory.stats),
    /** The machine's memory when the container has no limit. */
    memoryLimit: memory.limit ?? 0,
    received: sum(networks.map(({ rx_bytes }) => rx_bytes)),
    sent: sum(networks.map(({ tx_bytes }) => tx_bytes)),
    read: transferred(sent, 'read'),
    written: transferred(sent, 'write'),
    pids: sent.pids_stats.current ?? 0,
  }
}

/** Usage between two readings of a container, as percentages and rates. */
export function usageBetween(before: StatsReading, after: StatsReading) {
  const { memory, memoryLimit, pids, received, sent, read, written } = after
  const seconds = (after.readAt.getTime() - before.readAt.getTime()) / 1000
  // counters restart with the container
  const rate = (of: keyof Transfers) =>
    seconds > 0 ? Math.max(0, after[of] - before[of]) / seconds : 0
  return {
    /** Percent of one processor: two busy ones make 200. */
    cpu: cpuBetween(before, after),
    ...{ memory, memoryLimit, pids, received, sent, read, written },
    /** In bytes per second. */
    rates: {
      received: rate('received'),
      sent: rate('sent'),
      read: rate('read'),
      written: rate('written'),
    },
  }
}

function cpuBetween(before: StatsReading, after: StatsReading) {
  const used = after.cpuTotal - before.cpuTotal
  const given = after.systemCpu - before.systemCpu
  return used > 0 && given > 0 ? (used / given) * after.onlineCpus * 100 : 0
}

/** The first key is that of cgroup v1, where the second excludes the container's child groups. */
function withoutCache(usage: number, stats: Record<string, number> = {}) {
  const cache = stats.total_inactive_file ?? stats.inactive_file ?? 0
  return cache < usage ? usage - cache : usage
}

/** The kernel writes `Read` or `read`, depending on the cgroup version. */
const transferred = ({ blkio_stats }: Sent, way: 'read' | 'write') =>
  sum(
    (blkio_stats.io_service_bytes_recursive ?? [])
      .filter(({ op }) => op.toLowerCase() === way)
      .map(({ value }) => value),
  )

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
