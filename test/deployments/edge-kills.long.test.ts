import { expect, onTestFinished, test } from 'bun:test'
import { freePort } from '../edge/caddy.ts'
import { watch } from '../faults/watch.ts'
import type { Deployment } from '../faults/watch.ts'
import { anInstallation } from '../support/installation.ts'
import { ensureEdgeImages } from '../support/machine.ts'
import { until } from '../support/until.ts'
import { aRepository } from './apps.ts'
import { aSlowApp, letEnd } from './edge-app.ts'

const host = 'app.test'

test('no visitor notices that Davit is killed in the middle of a deployment, at whichever step', async () => {
  await ensureEdgeImages({ say: console.error })
  const http = freePort()
  const ports = `${http},${freePort()}`
  const davit = anInstallation({}, { DAVIT_EDGE: 'caddy', DAVIT_EDGE_PORTS: ports })
  onTestFinished(() => davit.leave())
  let { client } = await davit.start()
  const repository = aRepository(davit.directory, aSlowApp('first'))
  const { id } = await client.post<{ id: string }>('/projects', {
    name: 'site',
    repositoryUrl: repository.url,
  })
  const { items } = await client.get<{ items: { id: string }[] }>(`/projects/${id}/envs`)
  const environment = items[0]!.id
  await client.put(`/projects/${id}/envs/${environment}`, { domains: [host] })
  const deploy = () => client.post<Deployment>(`/projects/${id}/deployments`)
  await watch(client, await deploy()).ended
  await until(async () => (await text()) === 'first')

  let isOver = false
  const wrong: string[] = []
  const versions = ['first']
  const visitors = [true, false].map(async (keepalive) => {
    while (!isOver) {
      const found = await text(keepalive).catch(String)
      if (!versions.includes(found)) wrong.push(found)
    }
  })
  for (const step of ['Starting container', 'Waiting for', 'It responded', 'Running at']) {
    const [old] = davit.rows<{ container_id: string }>(
      "SELECT container_id FROM instances WHERE state = 'live'",
    )
    const open = await get('/cgi-bin/slow')
    const version = `after ${step}`
    versions.push(version)
    repository.commit(aSlowApp(version))
    const deployment = await deploy()
    await watch(client, deployment).hears(step)
    await davit.kill()
    ;({ client } = await davit.start())
    await watch(client, deployment).ended
    await until(async () => (await text()) === version)
    await letEnd(davit, old!.container_id)
    expect(await open.text()).toStartWith('begins in ')
    await until(async () => (await davit.docker.inspectContainer(old!.container_id)) === null)
  }
  isOver = true
  await Promise.all(visitors)
  expect(wrong).toEqual([])
  const labels = [`davit.environment=${environment}`]
  expect(await davit.docker.listContainers({ labels, all: true })).toHaveLength(1)

  function get(path: string, keepalive = false) {
    return fetch(`http://127.0.0.1:${http}${path}`, { keepalive, headers: { Host: host } })
  }

  async function text(keepalive = false) {
    return (await get('/', keepalive)).text()
  }
}, 400_000)
