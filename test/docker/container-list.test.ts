import { expect, test } from 'bun:test'
import { readStatus } from '../../src/docker/container-list.ts'
import { execIn } from '../support/exec.ts'
import { until } from '../support/until.ts'
import { sandbox } from './sandbox.ts'

const { docker, labels, run, options } = sandbox()
const filter = { labels: Object.entries(labels).map((entry) => entry.join('=')), all: true }

const listed = async (id: string) =>
  (await docker.listContainers(filter)).find((container) => container.id === id)!

test('the phrase of the engine has the health and the exit code', () => {
  expect(readStatus('Up 3 minutes')).toEqual({ health: null, exitCode: null })
  expect(readStatus('Up Less than a second (health: starting)').health).toBe('starting')
  expect(readStatus('Up About an hour (healthy)').health).toBe('healthy')
  expect(readStatus('Up 2 days (unhealthy)').health).toBe('unhealthy')
  expect(readStatus('Up 2 days (Paused)')).toEqual({ health: null, exitCode: null })
  expect(readStatus('Exited (137) 2 hours ago')).toEqual({ health: null, exitCode: 137 })
  expect(readStatus('Restarting (1) 5 seconds ago').exitCode).toBe(1)
  expect(readStatus('Created')).toEqual({ health: null, exitCode: null })
  expect(readStatus('Removal In Progress').exitCode).toBeNull()
})

test('health is in the list as it changes', async () => {
  const test = ['CMD', 'test', '-f', '/well']
  const checks = { interval: 300, timeout: 30_000, startPeriod: 60_000, retries: 1 }
  const id = await run('sleep 999', { healthCheck: { test, ...checks } })
  expect((await listed(id)).health).toBe('starting')
  await execIn(id, ['touch', '/well'])
  await until(async () => (await listed(id)).health === 'healthy')
  await execIn(id, ['rm', '/well'])
  await until(async () => (await listed(id)).health === 'unhealthy')
})

test('how a container ended is in the list', async () => {
  const id = await run('exit 137')
  await docker.waitForExit(id)
  await until(async () => (await listed(id)).exitCode === 137)
  const never = await docker.createContainer(options())
  expect(await listed(never)).toMatchObject({ state: 'created', exitCode: null, health: null })
})
