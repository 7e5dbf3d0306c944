import { expect, onTestFinished, test } from 'bun:test'
import { aCommand, aRepository } from '../deployments/apps.ts'
import { watch } from '../faults/watch.ts'
import type { Deployment } from '../faults/watch.ts'
import { anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'

type Environment = {
  live: { instances: { process: string; containerId: string; state: string }[] } | null
}

/** It takes its ten seconds to end. */
const stubborn = "trap '' TERM; while :; do sleep 1; done"

test('what an environment was asked to do is done after Davit was killed in the middle of it', async () => {
  const davit = anInstallation()
  onTestFinished(() => davit.leave())
  let { client } = await davit.start()
  const repository = aRepository(davit.directory, aCommand(stubborn))
  const { id } = await client.post<{ id: string }>('/projects', {
    name: 'site',
    repositoryUrl: repository.url,
  })
  const { items } = await client.get<{ items: { id: string }[] }>(`/projects/${id}/envs`)
  const environment = items[0]!.id
  const path = `/projects/${id}/envs/${environment}`
  await client.put(path, {
    port: 0,
    processes: [{ name: 'web' }, { name: 'worker', command: ['sleep', '9999'] }],
  })
  const deployment = await client.post<Deployment>(`/projects/${id}/deployments`)
  await watch(client, deployment).ended
  const containers = (await look()).live!.instances.map(({ containerId }) => containerId)
  expect(containers).toHaveLength(2)

  await killedDuring('stop')
  await until(() => areAll('stopped'))
  expect(await statesOf()).toEqual(['exited', 'exited'])
  await startAgain() // after the stop
  expect(await areAll('stopped')).toBe(true)
  expect(await statesOf()).toEqual(['exited', 'exited'])

  await client.post(`/envs/${environment}/start`)
  await startAgain() // after the start
  expect(await areAll('running')).toBe(true)

  const before = await startTimes()
  await killedDuring('restart')
  await until(async () => (await areAll('running')) && (await areLater(before)))
  await until(() => davit.rows('SELECT id FROM jobs').length === 0)
  expect(await statesOf()).toEqual(['running', 'running'])
  expect((await look()).live!.instances.map(({ containerId }) => containerId)).toEqual(containers)
  const status = `/projects/${id}/deployments/${deployment.id}`
  expect(await client.get<Deployment>(status)).toMatchObject({ status: 'running', error: null })

  function look() {
    return client.get<Environment>(path)
  }

  async function areAll(state: string) {
    return (await look()).live!.instances.every((instance) => instance.state === state)
  }

  function inspected() {
    return Promise.all(containers.map((id) => davit.docker.inspectContainer(id)))
  }

  async function statesOf() {
    return (await inspected()).map((container) => container!.state)
  }

  async function startTimes() {
    return (await inspected()).map((container) => container!.startedAt!.getTime())
  }

  async function areLater(before: number[]) {
    return (await startTimes()).every((time, at) => time > before[at]!)
  }

  /** While the container that takes its time is being stopped. */
  async function killedDuring(verb: 'stop' | 'restart') {
    client.post(`/envs/${environment}/${verb}`).catch(() => {}) // the answer never comes
    await until(async () => (await statesOf()).includes('exited'))
    expect(davit.rows('SELECT kind FROM jobs')).toEqual([{ kind: `${verb}-app` }])
    await startAgain()
  }

  async function startAgain() {
    await davit.kill()
    ;({ client } = await davit.start())
  }
})
