import { expect, onTestFinished, test } from 'bun:test'
import { aCommand, aRepository } from '../deployments/apps.ts'
import { watch } from '../faults/watch.ts'
import type { Deployment } from '../faults/watch.ts'
import { anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'

type Run = { id: string; finishedAt: string | null; error: { code: string } | null }
type Lines = { items: { stream: string; text: string }[] }

/** A Davit as a process with one live app, and what is done with its runs. */
async function aLiveApp() {
  const davit = anInstallation()
  onTestFinished(() => davit.leave())
  let { client } = await davit.start()
  const { url: repositoryUrl } = aRepository(davit.directory, aCommand('sleep 9999'))
  const { id } = await client.post<{ id: string }>('/projects', { name: 'site', repositoryUrl })
  const envs = `/projects/${id}/envs`
  const [environment] = (await client.get<{ items: { id: string }[] }>(envs)).items
  await client.put(`${envs}/${environment!.id}`, { port: 0 })
  await watch(client, await client.post<Deployment>(`/projects/${id}/deployments`)).ended
  const path = `/envs/${environment!.id}/runs`
  const containers = () => davit.docker.listContainers({ labels: davit.labels(), all: true })
  const [app] = await containers()
  const get = ({ id }: Run) => client.get<Run>(`${path}/${id}`)
  return {
    docker: davit.docker,
    get,
    start: (script: string) => client.post<Run>(path, { command: ['sh', '-c', script] }),
    ended: (run: Run) => until(async () => (await get(run)).finishedAt !== null, 60),
    async outputOf({ id }: Run) {
      const { items } = await client.get<Lines>(`${path}/${id}/logs?limit=10000`)
      return items.flatMap(({ stream, text }) => (stream === 'system' ? [] : text))
    },
    async restart(how: 'kill' | 'stop', meanwhile = async () => {}) {
      await davit[how]()
      await meanwhile()
      ;({ client } = await davit.start())
    },
    ofRuns: async () => (await containers()).filter(({ id }) => id !== app!.id),
  }
}

test('a run goes on while Davit is killed and restarted, and no line of it is lost or doubled', async () => {
  const { start, get, ended, outputOf, restart, ofRuns } = await aLiveApp()
  const run = await start(
    'n=0; while [ $n -lt 400 ]; do n=$((n + 1)); echo $n; sleep 0.02; done; exit 5',
  )
  for (const how of ['kill', 'stop', 'kill', 'kill'] as const) {
    const before = (await outputOf(run)).length
    await Bun.sleep(Math.random() * 700) // whatever it is at then
    await restart(how)
    // two kills while it starts would end it, and a slow machine takes long for that
    const isOn = async () => (await outputOf(run)).length > before
    await until(async () => (await isOn()) || (await get(run)).finishedAt !== null, 60)
  }
  await ended(run)
  expect(await get(run)).toMatchObject({ status: 'failed', exitCode: 5, error: null })
  expect(await outputOf(run)).toEqual(Array.from({ length: 400 }, (_, at) => String(at + 1)))
  await until(async () => (await ofRuns()).length === 0)
})

test('a run that ends, or whose container is removed, while Davit is stopped ends with that', async () => {
  const { start, get, ended, outputOf, restart, ofRuns, docker } = await aLiveApp()
  const short = await start('echo short; sleep 1')
  const long = await start('echo long; sleep 999')
  for (const run of [short, long]) await until(async () => (await outputOf(run)).length > 0)
  await restart('stop', async () => {
    await until(async () => (await ofRuns()).some(({ state }) => state === 'exited'))
    for (const { id, state } of await ofRuns())
      if (state === 'running') await docker.removeContainer(id, { force: true })
  })
  for (const run of [short, long]) await ended(run)
  expect(await get(short)).toMatchObject({ status: 'succeeded', exitCode: 0 })
  expect(await get(long)).toMatchObject({
    ...{ status: 'failed', exitCode: null },
    error: { code: 'container_removed' },
  })
  await until(async () => (await ofRuns()).length === 0)
})
