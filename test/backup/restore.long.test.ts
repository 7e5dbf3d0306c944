import { expect, onTestFinished, test } from 'bun:test'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DavitClient } from '../demo/client.ts'
import { readEvents } from '../demo/events.ts'
import { anApp, aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import type { Key } from '../deployments/events.ts'
import { idle } from '../services/instances.ts'
import { anInstallation } from '../support/installation.ts'
import { removeFromEngine } from '../support/remove-from-engine.ts'
import { runDavit } from '../support/run-davit.ts'

type Deployment = Key & {
  status: string
  url: string
  containerId: string | null
  image: string | null
  triggeredBy: string
  commit: { hash: string }
}
type Service = { id: string; status: string }

test('a Davit that was wiped is as it was: what runs is found, and what is gone is deployed again', async () => {
  const davit = aVictim()
  const repository = aRepository(davit.directory, anApp('here'))
  let { client } = await davit.start()
  const project = await client.post<{ id: string }>('/projects', {
    name: 'site',
    repositoryUrl: repository.url,
  })
  const [environment] = (await client.get<List<{ id: string }>>(`/projects/${project.id}/envs`))
    .items
  const variable = { key: 'TOKEN', value: 'a secret of the app', secret: true }
  await client.post(`/envs/${environment!.id}/variables`, variable)
  const app = await finished(
    client,
    await client.post<Deployment>(`/projects/${project.id}/deployments`),
  )
  expect(app).toMatchObject({ status: 'running' })
  const compose = `services: {a: {${idle}}}`
  const service = await client.post<Service>('/services/compose', { name: 'cache', compose })
  await settled(client, service)

  const file = join(davit.directory, 'davit.backup')
  const made = await davit.run(['backup', file, '--with-logs'])
  expect(made).toMatchObject({ status: 0, stderr: '' })
  expect(made.stdout).toContain(
    '1 user, 1 project, 1 environment, 1 variable, 1 service, 1 deployment',
  )
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file).includes('ada@example.com')).toBe(false)
  const containers = await davit.containers()
  expect(containers).toHaveLength(2)

  await davit.wipe()
  const restored = await davit.run(['restore', file])
  expect(restored).toMatchObject({ status: 0, stderr: '' })
  expect(restored.stdout).toMatch(/found +site, production: container davit-site-\S+, running/)
  expect(restored.stdout).toMatch(/found +service cache/)
  ;({ client } = await davit.start())
  expect(await client.get<Deployment>(pathOf(app))).toMatchObject({
    status: 'running',
    containerId: app.containerId,
  })
  expect((await settled(client, service)).status).toBe('running')
  expect((await client.get<List<unknown>>(`${pathOf(app)}/logs`)).items).not.toBeEmpty()
  expect(await davit.containers()).toEqual(containers)

  await davit.wipe()
  await davit.emptyEngine()
  const again = await davit.run(['restore', file])
  expect(again.stdout).toMatch(
    /missing +site, production: deployed at the start, rebuilt from commit/,
  )
  expect(again.stdout).toMatch(/missing +service cache: created again/)
  ;({ client } = await davit.start())
  const newest = await newestOf(client, project)
  expect(await finished(client, newest)).toMatchObject({
    status: 'running',
    triggeredBy: 'a restore from a backup',
    commit: { hash: app.commit.hash },
  })
  expect(await (await fetch(app.url)).text()).toBe('here')
  expect((await settled(client, service)).status).toBe('running')
  expect(await client.get<Deployment>(pathOf(app))).toMatchObject({
    status: 'superseded',
    image: null,
  })
}, 120_000)

type List<Item> = { items: Item[] }

/** Reads the log to its end; returns the deployment in its final state. */
async function finished(client: DavitClient, deployment: Key) {
  for await (const _ of readEvents(
    await client.stream(`${pathOf(deployment)}/logs?format=json`, null),
  ));
  return client.get<Deployment>(pathOf(deployment))
}

/** The service once it is not being started. */
async function settled(client: DavitClient, { id }: Service): Promise<Service> {
  for (;;) {
    const service = await client.get<Service>(`/services/${id}`)
    if (!['pulling', 'creating', 'starting'].includes(service.status)) return service
    await Bun.sleep(50)
  }
}

/** The deployment that the restore asks for, once the engine was looked at. */
async function newestOf(client: DavitClient, { id }: { id: string }) {
  for (;;) {
    const { items } = await client.get<List<Deployment>>(`/projects/${id}/deployments`)
    if (items.length > 1) return items[0]!
    await Bun.sleep(50)
  }
}

/** An installation whose data directory is lost, and whose backups are under a passphrase. */
function aVictim() {
  const davit = anInstallation({}, { DAVIT_SETTLE_TIME: '1' })
  const passphraseFile = join(davit.directory, 'passphrase')
  writeFileSync(passphraseFile, 'correct horse battery staple\n')
  onTestFinished(() => davit.leave())
  return {
    ...davit,
    run: ([verb, file, ...more]: string[]) =>
      runDavit([verb!, file!, '--passphrase-file', passphraseFile, ...more], {
        env: davit.settings,
      }),
    emptyEngine: () => removeFromEngine(davit.docker, davit.labels()),
    async wipe() {
      expect(await davit.stop()).toBe(0)
      rmSync(davit.dataDir, { recursive: true })
    },
    async containers() {
      const all = await davit.docker.listContainers({ labels: davit.labels(), all: true })
      return all.map(({ id, state }) => ({ id, state }))
    },
  }
}
