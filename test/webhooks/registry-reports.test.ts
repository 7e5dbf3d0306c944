import { expect, onTestFinished, test } from 'bun:test'
import { aProject } from '../deployments/image-projects.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { pushManifest } from '../support/push-manifest.ts'
import { startRegistry } from '../support/registry.ts'
import { until } from '../support/until.ts'

test('the registry of Debian reports a push to the address of a project, which deploys it', async () => {
  const { t, ada } = withAda(simulatedApp())
  const davit = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => t.app.fetch(request),
  })
  onTestFinished(() => davit.stop(true))
  const { id, path, hook } = await aProject(ada, 'nginx:1')
  const address = `http://127.0.0.1:${davit.port}${new URL(hook).pathname}`
  const registry = await startRegistry(undefined, { reports: address })
  onTestFinished(() => registry.stop())
  await ada.put(path, { image: `${registry.host}/team/app:1.*` })

  const config = { os: 'linux', architecture: 'amd64' }
  const digest = await pushManifest(registry.host, { tags: ['1.1'], config })
  const list = async () => (await ada.get(`/projects/${id}/deployments`)).json.items
  await until(async () => (await list()).length === 1)
  await t.jobs.idle()
  const [deployment] = await list()
  expect(deployment).toMatchObject({
    ...{ trigger: 'webhook', triggeredBy: 'Registry', status: 'running' },
    pulled: { reference: `${registry.host}/team/app:1.1`, digest },
  })

  const newer = await pushManifest(registry.host, {
    tags: ['1.1', '0.9'],
    config: { ...config, created: '2026-11-26T20:00:00Z' },
  })
  await until(async () => (await list()).length === 2)
  expect((await list())[0].pulled.digest).toBe(newer)
})
