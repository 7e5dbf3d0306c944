import { expect, test } from 'bun:test'
import { Failure } from '../../../src/platform/errors.ts'
import type { TestApp } from '../../support/app.ts'
import { anOwn, listen } from '../engine.ts'
import { hasty, untilState, watched, watchJson } from './watching.ts'

/** Every container that the engine was asked about, in order. */
function countPolls(t: TestApp) {
  const asked: string[] = []
  const { containerStats } = t.docker
  t.faults.containerStats = (id, options) => {
    asked.push(id)
    return containerStats(id, options)
  }
  return asked
}

const busy = 'while :; do :; done'

test('what a busy container uses comes again and again, as the engine itself counts it', async () => {
  const { id, stream } = await watched(busy, { cpus: 0.5 })
  await stream.next()
  const { value: first } = await stream.next()
  const { value: usage } = await stream.next()
  expect(Date.parse(usage.time)).toBeGreaterThan(Date.parse(first.time))
  const { rates, ...counts } = usage
  expect(counts).toEqual({
    state: 'running',
    time: usage.time,
    cpu: expect.any(Number),
    memory: expect.any(Number),
    memoryLimit: 32 * 2 ** 20,
    received: expect.any(Number),
    sent: 0,
    read: expect.any(Number),
    written: 0,
    pids: 2, // with the init
  })
  expect(Object.keys(rates)).toEqual(['received', 'sent', 'read', 'written'])
  expect(usage.cpu).toBeWithin(3, 60)
  const told = await dockerStats(id)
  expect(Math.abs(told.cpu - usage.cpu)).toBeLessThan(30)
  expect(Math.abs(told.memory - usage.memory)).toBeLessThan(2 ** 20)
  await stream.return(undefined)
})

/** By the formula of `docker stats`, from the engine's own pair of readings. */
async function dockerStats(id: string) {
  const answer = await fetch(`http://engine/v1.41/containers/${id}/stats?stream=false`, {
    unix: '/var/run/docker.sock',
  })
  const { cpu_stats: now, precpu_stats: before, memory_stats: memory }: any = await answer.json()
  const used = now.cpu_usage.total_usage - before.cpu_usage.total_usage
  const given = now.system_cpu_usage - before.system_cpu_usage
  const { inactive_file, total_inactive_file = inactive_file } = memory.stats
  return {
    cpu: (used / given) * now.online_cpus * 100,
    memory: memory.usage - (total_inactive_file ?? 0),
  }
}

test('a container that stops, starts, stops and goes is followed all the way', async () => {
  const { t, ada } = hasty()
  listen(t)
  const { id } = await anOwn(t, ada, 'trap exit TERM; sleep 999 & wait')
  const asked = countPolls(t)
  const stream = watchJson(ada, id)
  expect((await stream.next()).value).toEqual({ state: 'stopped', time: expect.any(String) })
  await Bun.sleep(700)
  expect(asked).toHaveLength(1) // what does not run is not asked for
  await t.docker.startContainer(id)
  await untilState(stream, 'running')
  await t.docker.stopContainer(id)
  await untilState(stream, 'stopped')
  expect(t.usage.latest(id)).toBeNull()
  await t.docker.startContainer(id)
  await untilState(stream, 'running')
  await t.docker.removeContainer(id, { force: true })
  await untilState(stream, 'removed')
  expect((await stream.next()).value).toEqual({ name: 'done', data: 'removed' })
  expect((await stream.next()).done).toBe(true)
})

test('a container that was restarted goes on from zero without a wild figure', async () => {
  const { t, id, stream } = await watched(busy, { cpus: 0.5 })
  listen(t)
  await untilState(stream, 'running')
  await t.docker.restartContainer(id, { timeoutSeconds: 0 })
  for (let events = 0; events < 3; events++) {
    const usage = await untilState(stream, 'running')
    expect(usage.cpu).toBeWithin(3, 70)
  }
  await stream.return(undefined)
})

test('an engine that is away is said to be, once, and waited for', async () => {
  const { t, stream } = await watched()
  await untilState(stream, 'running')
  t.faults.containerStats = () =>
    Promise.reject(new Failure('engine_unreachable', 'Away.', 'Wait.'))
  await untilState(stream, 'unknown')
  delete t.faults.containerStats
  expect((await stream.next()).value.state).toBe('running')
  await stream.return(undefined)
})
