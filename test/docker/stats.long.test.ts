import { expect, test } from 'bun:test'
import { connectEngine } from '../../src/docker/engine.ts'
import type { StatsReading } from '../../src/docker/index.ts'
import { usageBetween } from '../../src/docker/index.ts'
import { toReading } from '../../src/docker/stats.ts'
import { until } from '../support/until.ts'
import { sandbox } from './sandbox.ts'

const { docker, name, options, run } = sandbox()
const busy = 'while :; do :; done'

type Cpu = { cpu_usage: { total_usage: number }; system_cpu_usage: number; online_cpus: number }
type Told = {
  cpu_stats: Cpu
  precpu_stats: Cpu
  memory_stats: { limit: number }
  pids_stats: { current: number }
}

test('a container that keeps half a processor busy uses half of one', async () => {
  const id = await run(busy, { cpus: 0.5 })
  const before = (await docker.containerStats(id))!
  await Bun.sleep(2_000)
  const after = (await docker.containerStats(id))!
  const usage = usageBetween(before, after)
  expect(usage.cpu).toBeGreaterThan(3)
  expect(usage.cpu).toBeLessThan(60)
  expect(usage.memory).toBeGreaterThan(0)
  expect(usage.memoryLimit).toBe(32 * 2 ** 20)
  expect(usage.pids).toBe(2) // with the init
  expect(after.readAt.getTime() - before.readAt.getTime()).toBeGreaterThan(1_900)
})

test('the engine’s own two readings make the same number', async () => {
  const id = await run(busy, { cpus: 0.5 })
  const before = (await docker.containerStats(id))!
  const path = `/containers/${id}/stats`
  const told = await connectEngine(undefined).request<Told>('GET', path, {
    query: { stream: false },
  })
  const usage = usageBetween(before, (await docker.containerStats(id))!)
  const used = told.cpu_stats.cpu_usage.total_usage - told.precpu_stats.cpu_usage.total_usage
  const given = told.cpu_stats.system_cpu_usage - told.precpu_stats.system_cpu_usage
  const cpu = (used / given) * told.cpu_stats.online_cpus * 100
  expect(Math.abs(usage.cpu - cpu)).toBeLessThan(30)
  expect(usage.memoryLimit).toBe(told.memory_stats.limit)
  expect(usage.pids).toBe(told.pids_stats.current)
})

test('what a container sends, receives and writes is counted', async () => {
  const server = await run('sleep 600 | nc -l -p 80 > /dev/null')
  const address = (await docker.inspectContainer(server))!.addresses.bridge!
  const before = (await docker.containerStats(server))!
  const send = `(head -c 1100000 /dev/zero; sleep 20) | nc ${address} 80`
  await run(`until ${send}; do sleep 0.1; done`)
  let after = before
  await until(async () => {
    after = (await docker.containerStats(server))!
    return after.received - before.received > 1_000_000
  })
  const usage = usageBetween(before, after)
  expect(usage.sent).toBeGreaterThan(0)
  const seconds = (after.readAt.getTime() - before.readAt.getTime()) / 1000
  expect(usage.rates.received * seconds).toBeCloseTo(after.received - before.received, 0)
})

test('a container that does not run or is not there has none', async () => {
  const id = await docker.createContainer({ ...options(), command: ['true'] })
  expect(await docker.containerStats(id)).toBeNull()
  await docker.startContainer(id)
  await docker.waitForExit(id)
  expect(await docker.containerStats(id)).toBeNull()
  expect(await docker.containerStats(name())).toBeNull()
})

const sent = {
  read: '2026-01-02T03:04:05.678901234Z',
  cpu_stats: { cpu_usage: { total_usage: 10 }, system_cpu_usage: 1000, online_cpus: 2 },
  networks: { eth0: { rx_bytes: 1, tx_bytes: 2 }, eth1: { rx_bytes: 10, tx_bytes: 20 } },
  pids_stats: { current: 3 },
}

test('with the first version of cgroups, caches of its children count as its own', () => {
  const reading = toReading({
    ...sent,
    memory_stats: {
      usage: 100,
      limit: 1000,
      stats: { inactive_file: 1, total_inactive_file: 30 },
    },
    blkio_stats: {
      io_service_bytes_recursive: [
        { op: 'Read', value: 1 },
        { op: 'Write', value: 2 },
        { op: 'Total', value: 3 },
        { op: 'Read', value: 10 },
      ],
    },
  })
  expect(reading).toEqual({
    readAt: new Date('2026-01-02T03:04:05.678Z'),
    cpuTotal: 10,
    systemCpu: 1000,
    onlineCpus: 2,
    memory: 70,
    memoryLimit: 1000,
    received: 11,
    sent: 22,
    read: 11,
    written: 2,
    pids: 3,
  })
})

test('with the second version of cgroups, the other spelling is read', () => {
  const reading = toReading({
    ...sent,
    memory_stats: { usage: 100, limit: 1000, stats: { inactive_file: 40, file: 60 } },
    blkio_stats: {
      io_service_bytes_recursive: [
        { op: 'read', value: 5 },
        { op: 'write', value: 6 },
      ],
    },
  })
  expect(reading).toMatchObject({ memory: 60, read: 5, written: 6 })
})

test('caches larger than what is used are not taken off', () => {
  const memory_stats = { usage: 100, limit: 1000, stats: { inactive_file: 100 } }
  expect(toReading({ ...sent, memory_stats, blkio_stats: {} })).toMatchObject({ memory: 100 })
})

test('a container that restarted between two readings has used nothing rather than less', () => {
  const before = { ...zero, readAt: new Date(1000), cpuTotal: 500, systemCpu: 1000, sent: 50 }
  const after = { ...zero, readAt: new Date(3000), cpuTotal: 100, systemCpu: 2000, sent: 10 }
  expect(usageBetween(before, after)).toMatchObject({ cpu: 0, sent: 10, rates: { sent: 0 } })
  expect(usageBetween(before, { ...before, sent: 90 })).toMatchObject({ rates: { sent: 0 } })
})

test('per cent are of one processor', () => {
  const after = { ...zero, readAt: new Date(2000), cpuTotal: 750, systemCpu: 2000, received: 3000 }
  expect(usageBetween(zero, after)).toMatchObject({ cpu: 75, rates: { received: 1500 } })
})

const zero: StatsReading = {
  readAt: new Date(0),
  cpuTotal: 0,
  systemCpu: 0,
  onlineCpus: 2,
  memory: 0,
  memoryLimit: 0,
  received: 0,
  sent: 0,
  read: 0,
  written: 0,
  pids: 0,
}
