import { expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { aCommand, aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { startPrivateEngine } from '../faults/private-engine.ts'
import { watch } from '../faults/watch.ts'
import type { Deployment } from '../faults/watch.ts'
import { site } from '../services/instances.ts'
import { anInstallation } from '../support/installation.ts'
import { comesTrue } from '../support/until.ts'

const asking =
  'trap "exit 0" TERM; while :; do timeout 2 wget -qO- "http://$SITE_HOST:$SITE_PORT/"; sleep 0.2; done'

test('an app reaches its service after the engine and Davit were killed and started again', async () => {
  await using engine = await startPrivateEngine()
  const davit = anInstallation({}, { DOCKER_HOST: engine.host })
  const docker = connectDocker({ host: engine.host })
  try {
    const { client } = await davit.start()
    const { url } = aRepository(davit.directory, aCommand(asking), 'asking.git')
    const { id } = await client.post<{ id: string }>('/projects', {
      name: 'asking',
      repositoryUrl: url,
    })
    type Items = { items: { id: string }[] }
    const environment = (await client.get<Items>(`/projects/${id}/envs`)).items[0]!
    await client.put(`/projects/${id}/envs/${environment.id}`, { port: 0 })
    const fields = { name: 'site', compose: site }
    const service = await client.post<{ id: string }>('/services/compose', fields)
    const statusOf = async () =>
      (await client.get<{ status: string }>(`/services/${service.id}`)).status
    expect(await comesTrue(60, async () => (await statusOf()) === 'running')).toBe(true)
    await client.post(`/envs/${environment.id}/links`, { serviceId: service.id })
    const deployment = await client.post<Deployment>(`/projects/${id}/deployments`)
    await watch(client, deployment).ended
    const { containerId } = await client.get<{ containerId: string }>(pathOf(deployment))

    const answers = async () => {
      let count = 0
      for await (const lines of docker.containerLogs(containerId))
        count += lines.filter(({ text }) => text === 'hello').length
      return count
    }
    const goesOn = async () => {
      const before = await answers()
      return comesTrue(20, async () => (await answers()) > before)
    }
    expect(await goesOn()).toBe(true)
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await engine.stop(signal)
      await engine.start()
      const { containers } = await client.get<{ containers: { id: string }[] }>('/containers/api')
      // an engine that was killed may leave what it ran as it is
      for (const { id } of containers)
        if ((await docker.inspectContainer(id))?.state !== 'running')
          await docker.startContainer(id)
      expect(await goesOn()).toBe(true)
    }
    await davit.kill()
    await davit.start()
    expect(await goesOn()).toBe(true)
  } finally {
    await davit.leave()
  }
}, 240_000)
