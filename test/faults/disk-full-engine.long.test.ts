import { expect, test } from 'bun:test'
import type { DavitClient } from '../demo/client.ts'
import { aBuild, anApp, aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { anInstallation } from '../support/installation.ts'
import { startPrivateEngine } from './private-engine.ts'
import { watch } from './watch.ts'
import type { Deployment } from './watch.ts'

type Ended = Deployment & { error: { code: string } | null }

test('a build that fills the disk of the engine fails by that, and the next one has room', async () => {
  await using engine = await startPrivateEngine({ diskMb: 96 })
  const davit = anInstallation({}, { DOCKER_HOST: engine.host })
  try {
    const { client } = await davit.start()
    const big = aRepository(
      davit.directory,
      aBuild('dd if=/dev/zero of=/x bs=1M count=120'),
      'big.git',
    )
    const small = aRepository(davit.directory, anApp('small'), 'small.git')
    const failed = await deploy(client, { name: 'big', repositoryUrl: big.url })
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'disk_full' } })
    const next = await deploy(client, { name: 'small', repositoryUrl: small.url })
    expect(next).toMatchObject({ status: 'running', error: null })
  } finally {
    await davit.leave()
  }
})

/** Without a port, which would be published where the engine is. */
async function deploy(client: DavitClient, site: { name: string; repositoryUrl: string }) {
  const { id } = await client.post<{ id: string }>('/projects', site)
  const { items } = await client.get<{ items: { id: string }[] }>(`/projects/${id}/envs`)
  await client.put(`/projects/${id}/envs/${items[0]!.id}`, { port: 0 })
  const deployment = await client.post<Deployment>(`/projects/${id}/deployments`)
  await watch(client, deployment).ended
  return client.get<Ended>(pathOf(deployment))
}
