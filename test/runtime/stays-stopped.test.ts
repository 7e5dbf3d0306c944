import { expect, test } from 'bun:test'
import { apps } from '../../src/deployments/observe.ts'
import { startStopped } from '../../src/runtime/restart.ts'
import { services } from '../../src/services/observe.ts'
import { aProject } from '../deployments/apps.ts'
import { idle, made, settled } from '../services/instances.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'

const compose = `services:
  a: {${idle}, restart: always}
  b: {${idle}, restart: "on-failure:3"}
  c: {${idle}}
`
const policies: string[] = ['always', 'on-failure', 'unless-stopped']
const options = { orphans: true, signal: new AbortController().signal }

/** What there is of these containers, in their order. */
async function look({ docker }: TestApp, ids: string[]) {
  const found = await Promise.all(ids.map((id) => docker.inspectContainer(id)))
  return {
    states: found.map((one): string => one!.state),
    policies: found.map((one): string => one!.restartPolicy.name),
  }
}

const allStates = (state: string) => Array.from({ length: 3 }, () => state)

async function aService(t: TestApp, ada: ReturnType<TestApp['logIn']>) {
  const service = await made(t, ada, compose)
  const ids = ['a', 'b', 'c'].map(
    (part) => service.containers.find((one: { part: string }) => one.part === part).id as string,
  )
  return {
    ...{ id: service.id as string, ids },
    act: async (verb: 'stop' | 'restart') => {
      await ada.post(`/services/${service.id}/${verb}`)
      return (await settled(t, ada, service)).status
    },
    observed: async () => {
      await services.observe(t.deps, service.id, options)
      return (await ada.get(`/services/${service.id}`)).json.status
    },
  }
}

test('a service that was stopped stays so when Docker starts, and has its own policies again once it runs', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { ids, act, observed } = await aService(t, ada)
  expect(await act('stop')).toBe('stopped')
  t.engine.reboot()
  expect((await look(t, ids)).states).toEqual(allStates('exited'))
  expect(await observed()).toBe('stopped')
  expect(await act('restart')).toBe('running')
  expect(await look(t, ids)).toEqual({ states: allStates('running'), policies })
  t.engine.reboot()
  expect((await look(t, ids)).states).toEqual(allStates('running'))
})

test('so does one container of it that was stopped alone, beside which it is unhealthy', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { ids, observed } = await aService(t, ada)
  for (const id of ids.slice(0, 2)) {
    expect((await ada.post(`/containers/${id}/stop`)).json.state).toBe('exited')
    t.engine.reboot()
    const others = ids.filter((other) => other !== id)
    expect((await look(t, [id, ...others])).states).toEqual(['exited', 'running', 'running'])
    expect(await observed()).toBe('unhealthy')
    expect((await ada.post(`/containers/${id}/restart`)).json.state).toBe('running')
    expect(await observed()).toBe('running')
    expect((await look(t, ids)).policies).toEqual(policies)
  }
})

test('an app of a Compose file stays stopped, also after a start that failed or was cancelled', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, { 'compose.yaml': compose })
  await ada.put(`/projects/${project.id}/settings`, {
    composeFile: 'compose.yaml',
    composeService: 'a',
  })
  expect(await project.deploy()).toMatchObject({ status: 'running', error: null })
  await t.jobs.idle()
  const { environmentId } = project
  const { live } = (await ada.get(`/projects/${project.id}/envs/${environmentId}`)).json
  const ids = ['web', 'b', 'c'].map(
    (name): string =>
      live.instances.find((one: { process: string }) => one.process === name).containerId,
  )
  const act = async (verb: 'stop' | 'start') => {
    await ada.post(`/envs/${environmentId}/${verb}`)
    await t.jobs.idle()
  }
  await act('stop')
  t.engine.reboot()
  expect((await look(t, ids)).states).toEqual(allStates('exited'))

  t.faults.startContainer = () => Promise.reject(new Error('it broke'))
  await act('start')
  delete t.faults.startContainer
  t.engine.reboot()
  expect((await look(t, ids)).states).toEqual(allStates('exited'))

  // as Davit does it after a restart that was cancelled
  const workload = { id: environmentId, kind: 'app' } as const
  await startStopped(t.deps, { workload, signal: options.signal })
  await apps.observe(t.deps, environmentId, options)
  expect(await look(t, ids)).toEqual({ states: allStates('running'), policies })
})

test('a stop that could not be done to its end is told, and done by the next one', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id, ids, act } = await aService(t, ada)
  t.faults.setRestartPolicy = () => Promise.reject(new Error('it broke'))
  await act('stop')
  delete t.faults.setRestartPolicy
  expect((await ada.get(`/services/${id}`)).json.error).not.toBeNull()
  expect(await act('stop')).toBe('stopped')
  t.engine.reboot()
  expect((await look(t, ids)).states).toEqual(allStates('exited'))
})

test('what isn’t Davit’s keeps its policy when an admin stops it', async () => {
  const t = simulatedApp()
  const root = t.logInAsAdmin()
  const id = await t.docker.createContainer({
    ...{ name: 'stranger', image: 'busybox:latest', command: ['sleep', '999'], network: 'bridge' },
    ...{ memoryBytes: 2 ** 25, cpus: 1, pidsLimit: 64, restart: { name: 'always' } },
  })
  await t.docker.startContainer(id)
  expect((await root.post(`/containers/${id}/stop`)).json.state).toBe('exited')
  expect((await look(t, [id])).policies).toEqual(['always'])
})
