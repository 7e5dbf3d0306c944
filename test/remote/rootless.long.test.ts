import { expect, test } from 'bun:test'
import { readEvents } from '../demo/events.ts'
import { anApp, aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { watch } from '../faults/watch.ts'
import type { Deployment } from '../faults/watch.ts'
import { site } from '../services/instances.ts'
import { anInstallation } from '../support/installation.ts'
import { runDavit } from '../support/run-davit.ts'
import { until } from '../support/until.ts'
import { startRootlessEngine } from './rootless-engine.ts'

type Items = { items: { id: string }[] }
type Ended = Deployment & { error: { code: string; message: string } | null }

test('a rootless engine runs apps, and what it can’t do is refused with a sentence', async () => {
  await using engine = await startRootlessEngine()
  const settings = {
    DAVIT_SETTLE_TIME: '1',
    DAVIT_EDGE: 'caddy',
    DAVIT_HOST: engine.address,
    DOCKER_HOST: engine.host,
  }
  const command = [...engine.beside, process.execPath, 'src/main.ts', 'serve']
  const davit = anInstallation({ command }, { ...settings, DAVIT_PUBLISH_ADDRESS: engine.address })
  try {
    const { client } = await davit.start()
    const repository = aRepository(davit.directory, anApp('one'))
    const wanted = { name: 'site', repositoryUrl: repository.url }
    const { id } = await client.post<{ id: string }>('/projects', wanted)
    const path = `/projects/${id}`
    const environment = `${path}/envs/${(await client.get<Items>(`${path}/envs`)).items[0]!.id}`
    const deploy = async () => {
      const deployment = await client.post<Deployment>(`${path}/deployments`)
      await watch(client, deployment).ended
      const ended = await client.get<Ended>(pathOf(deployment))
      return { ...ended, log: davit.lines(deployment).map(({ text }) => text) }
    }
    const answer = async (url: string) => (await fetch(url).catch(() => null))?.text() ?? null
    const unprobed =
      'Docker runs rootless, and there is neither a health path nor a HEALTHCHECK: the app only has to stay up.'

    const first = await deploy()
    expect(first.error).toBeNull()
    expect(first.log).toContain(unprobed)
    expect(await answer(first.url)).toBe('one')

    await client.put(environment, { healthPath: '/', healthTimeout: 20 })
    repository.commit({ 'www/index.html': 'two' })
    const second = await deploy()
    expect(second).toMatchObject({ status: 'running', error: null })
    expect(second.log.join('\n')).toContain('(status 200)')
    expect(await answer(second.url)).toBe('two')

    // it accepts connections for an app that doesn't listen
    repository.commit({ Dockerfile: 'FROM busybox\nEXPOSE 8080\nCMD ["sleep", "999"]\n' })
    await client.put(environment, { healthTimeout: 2 })
    expect((await deploy()).error).toMatchObject({ code: 'no_answer' })
    expect(await answer(second.url)).toBe('two')

    const use = `/containers/${second.containerId}/stats?format=json`
    for await (const { name, data } of readEvents(await client.stream(use, null))) {
      if (name !== 'message') continue
      expect(JSON.parse(data)).toMatchObject({ state: 'unknown' })
      break
    }

    const fields = { name: 'db', compose: site }
    const service = await client.post<{ id: string }>('/services/compose', fields)
    type Service = { status: string; url: string }
    const serviceNow = () => client.get<Service>(`/services/${service.id}`)
    await until(async () => (await serviceNow()).status === 'running')
    expect(await answer((await serviceNow()).url)).toBe('hello\n')

    const onHost = 'services:\n  spy:\n    image: busybox\n    network_mode: host\n'
    const allowed = ['spy host_namespace network']
    type Failed = { id: string; status: string; error: { message: string } | null }
    const spy = await client.post<Failed>('/services/compose', {
      ...{ name: 'spy', compose: onHost, allowed },
    })
    await until(async () => (await client.get<Failed>(`/services/${spy.id}`)).status === 'failed')
    expect((await client.get<Failed>(`/services/${spy.id}`)).error!.message).toBe(
      'Docker runs rootless, so spy can’t use the network of the server.',
    )

    const { trouble } = await client.get<{ trouble: { code: string } }>('/settings/edge')
    expect(trouble.code).toBe('edge_direct')
    expect(await client.page('/settings/edge')).toContain('Rootless: apps are reached by')
    const env = davit.settings
    const said = (await runDavit(['doctor'], { env })).stdout
    expect(said).toMatch(/^ok +place +/m)
    expect(said).toMatch(/^to do +limits +/m)
    expect((await runDavit(['connect', 'db'], { env })).stderr).toContain('Docker runs rootless')
    expect(davit.errors()).toEqual([])
  } finally {
    await davit.leave()
  }
}, 120_000)
